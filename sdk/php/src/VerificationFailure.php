<?php

// The checks of a webhook, and the sentence for each that fails.

declare(strict_types=1);

namespace Tradewind\Sdk;

enum VerificationFailure: string
{
    case SignatureMissing = 'signature_missing';
    case SignatureMalformed = 'signature_malformed';
    case TimestampMissing = 'timestamp_missing';
    case TimestampMalformed = 'timestamp_malformed';
    case SignatureWrong = 'signature_wrong';
    case TimestampTooOld = 'timestamp_too_old';
    case TimestampTooNew = 'timestamp_too_new';

    public function sentence(): string
    {
        return match ($this) {
            self::SignatureMissing => 'There is no X-Service-Signature header.',
            self::SignatureMalformed => 'X-Service-Signature is not sha256= and 64 lower-case hex digits.',
            self::TimestampMissing => 'There is no X-Service-Timestamp header.',
            self::TimestampMalformed => 'X-Service-Timestamp is not a number of seconds.',
            self::SignatureWrong => 'The signature does not match the body. Verify the raw bytes as they were '
                . 'received, before any parsing, with the whole secret, whsec_ included.',
            self::TimestampTooOld => 'The webhook was sent too long ago.',
            self::TimestampTooNew => "The webhook was sent in the future; is this machine's clock right?",
        };
    }
}
