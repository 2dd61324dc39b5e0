// What an event is about.
package dev.tradewind.sdk;

/**
 * What an event is about.
 *
 * @param order the order right after the change
 */
public record EventData(OrderState order) {}
