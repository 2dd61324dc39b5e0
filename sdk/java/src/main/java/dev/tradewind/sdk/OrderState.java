// The order of an event, as it was right after the change.
package dev.tradewind.sdk;

import java.math.BigDecimal;
import java.time.Instant;

/**
 * The order of an event, as it was right after the change.
 *
 * @param id the order's id at Tradewind: the key to look it up
 * @param platform the marketplace
 * @param orderId its id on the marketplace; null before it has one
 * @param status its status on the marketplace; tolerate new ones
 * @param paymentStatus the status of its payment at Tradewind; tolerate new ones
 * @param platformPaymentStatus the status of its payment on the marketplace; tolerate new ones
 * @param totalAmountCny at most two decimals; null while it is unknown
 * @param updatedAt rises with every change of the order
 */
public record OrderState(
        String id,
        String platform,
        String orderId,
        String status,
        String paymentStatus,
        String platformPaymentStatus,
        BigDecimal totalAmountCny,
        Instant updatedAt) {}
