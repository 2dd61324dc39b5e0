<?php

// The exception for an event that another process handles right now.

declare(strict_types=1);

namespace Tradewind\Sdk;

/**
 * The same event is being handled right now, and may yet fail.
 *
 * Answer 503: if the other succeeds, the repeat is recognised then; if not, the repeat is handled.
 */
final class EventInProgressException extends \RuntimeException
{
}
