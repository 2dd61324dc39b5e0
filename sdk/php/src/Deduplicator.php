<?php

// Decides whether an event is handled.

declare(strict_types=1);

namespace Tradewind\Sdk;

/** Decides whether an event is handled. Write your own to keep the ids in your database. */
interface Deduplicator
{
    /**
     * Call `$handle` unless this event was handled before; return whether it was called.
     *
     * An event whose handling throws was not handled, so its repeat is let through.
     *
     * @param callable(): mixed $handle
     * @throws EventInProgressException while the same event is being handled elsewhere
     */
    public function once(string $eventId, callable $handle): bool;
}
