<?php

// An endpoint in plain PHP: verifies each webhook, handles each event once, and ignores stale ones.
//
//   WEBHOOK_SECRET=whsec_… PHP_CLI_SERVER_WORKERS=4 php -d display_errors=0 -S 127.0.0.1:3000 example/receiver.php

declare(strict_types=1);

require __DIR__ . '/../autoload.php';

use Tradewind\Sdk\Event;
use Tradewind\Sdk\EventInProgressException;
use Tradewind\Sdk\FileDeduplicator;
use Tradewind\Sdk\InvalidEventException;
use Tradewind\Sdk\VerificationException;
use Tradewind\Sdk\Webhook;

const LARGEST_BODY = 256 * 1024;

// A warning that is printed makes PHP answer 200, whatever comes next: the event would be lost.
ini_set('display_errors', '0');

$secrets = explode(',', (string) getenv('WEBHOOK_SECRET')); // several while one replaces another
$directory = getenv('DATA') ?: sys_get_temp_dir() . '/tradewind-receiver';

/** Store the order unless a newer state of it is stored, under a lock. */
function store(Event $event, string $directory): void
{
    $file = fopen("$directory/orders.json", 'c+');
    flock($file, LOCK_EX);
    $orders = json_decode(stream_get_contents($file) ?: '{}', associative: true);
    $order = $event->data->order;
    $stored = $orders[$order->id]['updated_at'] ?? null;
    if (!$event->isStale($stored === null ? null : new DateTimeImmutable($stored))) {
        $orders[$order->id] = [
            'status' => $order->status,
            'payment_status' => $order->paymentStatus,
            'total_amount_cny' => $order->totalAmountCny,
            'updated_at' => $order->updatedAt->format('Y-m-d\TH:i:s.vP'),
            'events' => [...($orders[$order->id]['events'] ?? []), $event->id],
        ];
        rewind($file);
        ftruncate($file, 0);
        fwrite($file, json_encode($orders));
    }
    fclose($file);
}

/** @param list<string> $secrets */
function receive(array $secrets, string $directory): int
{
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
        return 405;
    }
    // The bytes as they came: nothing has parsed them.
    $body = file_get_contents('php://input', length: LARGEST_BODY + 1);
    if (strlen($body) > LARGEST_BODY) {
        return 413;
    }
    try {
        Webhook::verify($secrets, getallheaders(), $body);
        $event = Event::parse($body);
        (new FileDeduplicator("$directory/handled"))->once($event->id, static fn () => store($event, $directory));
    } catch (VerificationException $why) {
        error_log($why->getMessage());
        return 401;
    } catch (InvalidEventException $why) {
        error_log($why->getMessage());
        return 400;
    } catch (EventInProgressException) {
        return 503;
    } catch (Throwable $error) {
        error_log($error->getMessage());
        return 500; // it is delivered again, and handled again
    }
    return 204;
}

http_response_code(receive($secrets, $directory));
