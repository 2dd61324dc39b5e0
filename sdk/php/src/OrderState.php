<?php

// The order of an event, as it was right after the change.

declare(strict_types=1);

namespace Tradewind\Sdk;

/** The order as it was right after the change that the event reports. Statuses may be new ones. */
final class OrderState
{
    /**
     * @param string $id the order's id at Tradewind, `ORD…`: the key to look it up
     * @param string|null $orderId its id at the marketplace; null until it exists there
     * @param float|null $totalAmountCny with two decimals at most; null while it is unknown
     */
    public function __construct(
        public readonly string $id,
        public readonly string $platform,
        public readonly ?string $orderId,
        public readonly string $status,
        public readonly string $paymentStatus,
        public readonly string $platformPaymentStatus,
        public readonly ?float $totalAmountCny,
        public readonly \DateTimeImmutable $updatedAt,
    ) {
    }
}
