<?php

// Runs the cases of a test on the SDK: JSON on standard input, one line per case on standard output.

declare(strict_types=1);

use Tradewind\Sdk\Event;
use Tradewind\Sdk\InvalidEventException;
use Tradewind\Sdk\VerificationException;
use Tradewind\Sdk\Webhook;

require $argv[1] . '/autoload.php';

function verified(array $case): string
{
    try {
        $delivery = Webhook::verify(
            $case['secrets'],
            $case['headers'],
            base64_decode($case['body']),
            now: $case['now'] === null ? null : (float) $case['now'],
        );
    } catch (VerificationException $error) {
        return $error->reason->value;
    } catch (InvalidArgumentException $error) {
        return 'empty_secret';
    }
    return "ok {$delivery->timestamp} {$delivery->id} {$delivery->event}";
}

function parsed(string $body): string
{
    try {
        $event = Event::parse(base64_decode($body));
    } catch (InvalidEventException $error) {
        return $error->getMessage();
    }
    $order = $event->data->order;
    $values = [
        $event->id,
        $event->event,
        $event->createdAt->format('Uv'),
        $order->id,
        $order->platform,
        $order->orderId ?? 'null',
        $order->status,
        $order->paymentStatus,
        $order->platformPaymentStatus,
        $order->totalAmountCny === null ? 'null' : number_format($order->totalAmountCny, 2, '.', ''),
        $order->updatedAt->format('Uv'),
        json_encode($event->isTest()),
        json_encode($event->isStale($order->updatedAt->modify('+1 millisecond'))),
        json_encode($event->isStale($order->updatedAt)),
        json_encode($event->isStale(null)),
    ];
    return implode(' ', $values);
}

$cases = json_decode(stream_get_contents(STDIN), associative: true);
foreach ($cases['verify'] as $case) {
    echo verified($case), "\n";
}
foreach ($cases['parse'] as $body) {
    echo parsed($body), "\n";
}
