<?php

// Verifies a webhook: the signature over the raw body, and how long ago it was sent.

declare(strict_types=1);

namespace Tradewind\Sdk;

final class Webhook
{
    /** How many seconds the sender's clock and ours may be apart, either way. */
    public const TOLERANCE_SECONDS = 300;

    /**
     * Check a webhook, or throw VerificationException.
     *
     * `$body` is the request's body exactly as it was received. The names of `$headers` may be in any case, and a
     * value may be a list, as PSR-7 has it. Pass several secrets while one replaces another: any of them may have
     * signed. The time is checked only when the signature is right, so a stale webhook is one that was genuine once.
     *
     * @param string|list<string> $secret the whole secret, whsec_ included
     * @param array<string, string|list<string>> $headers
     * @param float|null $now the time in Unix seconds; the machine's clock where it is null
     * @throws VerificationException
     * @throws \InvalidArgumentException where a secret is empty
     */
    public static function verify(
        #[\SensitiveParameter]
        string|array $secret,
        array $headers,
        string $body,
        ?float $now = null,
        float $tolerance = self::TOLERANCE_SECONDS,
    ): Delivery {
        $secrets = is_string($secret) ? [$secret] : $secret;
        self::refuseEmptySecrets($secrets);
        $values = self::byLowerCaseName($headers);
        $signature = $values['x-service-signature'] ?? null;
        $timestamp = $values['x-service-timestamp'] ?? null;
        if ($signature === null) {
            throw new VerificationException(VerificationFailure::SignatureMissing);
        }
        if (preg_match('/^sha256=[0-9a-f]{64}$/D', $signature) !== 1) {
            throw new VerificationException(VerificationFailure::SignatureMalformed);
        }
        if ($timestamp === null) {
            throw new VerificationException(VerificationFailure::TimestampMissing);
        }
        if (preg_match('/^[0-9]{1,15}$/D', $timestamp) !== 1) {
            throw new VerificationException(VerificationFailure::TimestampMalformed);
        }
        if (!self::isSignedByAny($secrets, $signature, "$timestamp.$body")) {
            throw new VerificationException(VerificationFailure::SignatureWrong);
        }
        $age = ($now ?? microtime(true)) - (int) $timestamp;
        if ($age > $tolerance) {
            throw new VerificationException(VerificationFailure::TimestampTooOld);
        }
        if ($age < -$tolerance) {
            throw new VerificationException(VerificationFailure::TimestampTooNew);
        }
        return new Delivery(
            (int) $timestamp,
            $values['x-service-delivery'] ?? '',
            $values['x-service-event'] ?? '',
        );
    }

    /** @param array<mixed> $secrets */
    private static function refuseEmptySecrets(#[\SensitiveParameter] array $secrets): void
    {
        $empty = array_filter($secrets, static fn ($secret) => !is_string($secret) || trim($secret) === '');
        if ($secrets === [] || $empty !== []) {
            throw new \InvalidArgumentException(
                'A secret is empty, and anybody can sign with an empty secret. Pass the whole secret of the webhook, '
                . 'whsec_ included.'
            );
        }
    }

    /**
     * The headers by their names in lower case. Several values of one header are joined as HTTP joins them.
     *
     * @param array<string, string|list<string>> $headers
     * @return array<string, string>
     */
    private static function byLowerCaseName(array $headers): array
    {
        $values = [];
        foreach ($headers as $name => $value) {
            $values[strtolower((string) $name)] = is_array($value) ? implode(', ', $value) : $value;
        }
        return $values;
    }

    /**
     * Compare in constant time with every secret, also when one has matched already.
     *
     * @param list<string> $secrets
     */
    private static function isSignedByAny(
        #[\SensitiveParameter]
        array $secrets,
        string $signature,
        string $signed,
    ): bool {
        $matches = false;
        foreach ($secrets as $secret) {
            $expected = 'sha256=' . hash_hmac('sha256', $signed, $secret);
            $matches = hash_equals($expected, $signature) || $matches;
        }
        return $matches;
    }
}
