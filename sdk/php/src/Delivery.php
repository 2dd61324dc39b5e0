<?php

// What the headers of a genuine webhook say.

declare(strict_types=1);

namespace Tradewind\Sdk;

/**
 * The headers of a genuine webhook.
 *
 * The signature covers `timestamp` and the body. `id` and `event` are not signed: to decide anything, read the event's
 * id and kind from the body.
 */
final class Delivery
{
    public function __construct(
        public readonly int $timestamp,
        public readonly string $id,
        public readonly string $event,
    ) {
    }
}
