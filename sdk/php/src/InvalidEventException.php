<?php

// The exception for a body that is not an event.

declare(strict_types=1);

namespace Tradewind\Sdk;

/** A body is not an event; the message names the field. Answer 400. */
final class InvalidEventException extends \UnexpectedValueException
{
}
