<?php

// What an event is about.

declare(strict_types=1);

namespace Tradewind\Sdk;

/** What an event is about. */
final class EventData
{
    public function __construct(public readonly OrderState $order)
    {
    }
}
