<?php

// The exception for a webhook that must not be trusted.

declare(strict_types=1);

namespace Tradewind\Sdk;

/** A webhook must not be trusted: answer 401. `reason` says which check failed. */
final class VerificationException extends \RuntimeException
{
    public function __construct(public readonly VerificationFailure $reason)
    {
        parent::__construct($reason->sentence());
    }
}
