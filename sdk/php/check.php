<?php

// Checks this package against a file of signature vectors: `php check.php FILE`.

declare(strict_types=1);

namespace Tradewind\Sdk;

require __DIR__ . '/autoload.php';

const MOST_POSITIONS = 512;

/** The vectors or this package are wrong; the message says how. */
final class CheckFailed extends \Exception
{
}

/** @return array<mixed> */
function read(string $path): array
{
    $text = is_file($path) ? @file_get_contents($path) : false;
    if ($text === false) {
        throw new CheckFailed("$path cannot be read.");
    }
    $file = json_decode($text, associative: true);
    if (!is_array($file) || !is_array($file['vectors'] ?? null) || $file['vectors'] === []) {
        throw new CheckFailed("$path is not a JSON file with a list of vectors.");
    }
    return $file;
}

/** @return array{string, string, string, string, list<string>} id, secret, timestamp, body and signatures */
function fields(mixed $vector, int $number): array
{
    $id = is_string($vector['id'] ?? null) ? $vector['id'] : "number $number";
    $text = static fn (string $name): ?string => is_string($vector[$name] ?? null) ? $vector[$name] : null;
    $body = $text('body_base64') === null ? $text('body_text') : base64_decode($text('body_base64'), strict: true);
    $signatures = array_filter([
        $text('expected_header'),
        $text('expected_hex') === null ? null : 'sha256=' . $text('expected_hex'),
    ]);
    if ($text('secret') === null || $text('timestamp') === null || !is_string($body) || $signatures === []) {
        throw new CheckFailed("Vector $id needs secret, timestamp, body_base64 and expected_header.");
    }
    return [$id, $text('secret'), $text('timestamp'), $body, array_values($signatures)];
}

/** Whether the package takes a webhook as genuine, at the time that it was sent. */
function isGenuine(string $secret, string $timestamp, string $body, string $signature): bool
{
    $headers = ['X-Service-Signature' => $signature, 'X-Service-Timestamp' => $timestamp];
    try {
        Webhook::verify($secret, $headers, $body, now: (float) $timestamp);
    } catch (VerificationException | \InvalidArgumentException) {
        return false;
    }
    return true;
}

/**
 * The text with one byte changed, at every position or at many; a longer text where it has no byte.
 *
 * @return iterable<string>
 */
function changes(string $text): iterable
{
    if ($text === '') {
        yield '0';
    }
    $step = max(1, intdiv(strlen($text), MOST_POSITIONS));
    for ($at = 0; $at < strlen($text); $at += $step) {
        foreach ([0x01, 0x20, 0x80] as $bit) {
            yield substr_replace($text, chr(ord($text[$at]) ^ $bit), $at, 1);
        }
    }
}

function check(string $path): int
{
    $file = read($path);
    $byId = [];
    foreach (array_values($file['vectors']) as $number => $vector) {
        [$id, $secret, $timestamp, $body, $signatures] = fields($vector, $number + 1);
        $byId[$id] = [$secret, $timestamp, $body];
        foreach ($signatures as $signature) {
            if (!isGenuine($secret, $timestamp, $body, $signature)) {
                throw new CheckFailed("Vector $id does not verify.");
            }
        }
        $parts = ['secret' => $secret, 'timestamp' => $timestamp, 'body' => $body, 'signature' => $signature];
        foreach ($parts as $name => $text) {
            foreach (changes($text) as $changed) {
                if (isGenuine(...[...$parts, $name => $changed])) {
                    throw new CheckFailed("Vector $id verifies although its $name was changed.");
                }
            }
        }
    }
    foreach ($file['negative'] ?? [] as $wrong) {
        $id = is_string($wrong['not_equal_to'] ?? null) ? $wrong['not_equal_to'] : '';
        if (!isset($byId[$id]) || !is_string($wrong['hex'] ?? null)) {
            throw new CheckFailed('An entry of negative needs hex, and not_equal_to with the id of a vector.');
        }
        if (isGenuine(...[...$byId[$id], "sha256={$wrong['hex']}"])) {
            throw new CheckFailed("Vector $id verifies with the signature of a wrong rule.");
        }
    }
    return count($file['vectors']);
}

if ($argc !== 2) {
    fwrite(STDERR, "Usage: php check.php FILE\n");
    exit(2);
}
try {
    $count = check($argv[1]);
} catch (CheckFailed $error) {
    fwrite(STDERR, "php: {$error->getMessage()}\n");
    exit(1);
}
echo "php: $count vectors verify, and none of them with a changed byte.\n";
