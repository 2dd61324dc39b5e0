// What the headers of a genuine webhook say.
package dev.tradewind.sdk;

/**
 * The headers of a genuine webhook.
 *
 * <p>The signature covers {@code timestamp} and the body. {@code id} and {@code event} are not signed: to decide
 * anything, read the event's id and kind from the body.
 *
 * @param timestamp when this attempt was sent, in Unix seconds
 * @param id the id of this attempt; it changes on every retry
 * @param event {@code order.updated} or {@code payment.updated}
 */
public record Delivery(long timestamp, String id, String event) {}
