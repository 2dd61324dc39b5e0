<?php

// An event: the body of a webhook, as typed values.

declare(strict_types=1);

namespace Tradewind\Sdk;

/** One event. Events of a new kind and orders with a new status are events like the others. */
final class Event
{
    public const ORDER_UPDATED = 'order.updated';
    public const PAYMENT_UPDATED = 'payment.updated';

    private const TIME = '/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$/D';

    /**
     * @param string $id `evt_…`; the same in every attempt and every resend
     * @param string $event order.updated or payment.updated
     * @param array<string, mixed> $raw the whole body, with the fields that this version does not know
     */
    public function __construct(
        public readonly string $id,
        public readonly string $event,
        public readonly \DateTimeImmutable $createdAt,
        public readonly EventData $data,
        public readonly array $raw = [],
    ) {
    }

    /**
     * Read a verified body. Fields that this version does not know are kept in `raw` only.
     *
     * @throws InvalidEventException
     */
    public static function parse(string $body): self
    {
        try {
            $raw = json_decode($body, associative: true, depth: 32, flags: JSON_THROW_ON_ERROR);
        } catch (\JsonException $error) {
            throw new InvalidEventException('The body is not JSON in UTF-8.', previous: $error);
        }
        $event = self::fields($raw, 'The body');
        $data = self::fields($event['data'] ?? null, 'data');
        $order = self::fields($data['order'] ?? null, 'data.order');
        return new self(
            self::text($event, 'id'),
            self::text($event, 'event'),
            self::time($event, 'created_at'),
            new EventData(
                new OrderState(
                    self::text($order, 'id', 'data.order.'),
                    self::text($order, 'platform', 'data.order.'),
                    isset($order['order_id']) ? self::text($order, 'order_id', 'data.order.') : null,
                    self::text($order, 'status', 'data.order.'),
                    self::text($order, 'payment_status', 'data.order.'),
                    self::text($order, 'platform_payment_status', 'data.order.'),
                    self::numberOrNull($order, 'total_amount_cny', 'data.order.'),
                    self::time($order, 'updated_at', 'data.order.'),
                ),
            ),
            $event,
        );
    }

    /** Whether it was sent by `POST /v1/webhooks/:id/test`; its order does not exist. */
    public function isTest(): bool
    {
        return str_starts_with($this->id, 'evt_test_');
    }

    /**
     * Whether to ignore this event, because a newer state of its order is stored already.
     *
     * `$stored` is the `data->order->updatedAt` of the newest event that you have applied to the order; null if there
     * is none. An equally new event is not stale: an order and its payment may change together, and then two events
     * show the same state. Compare and store in one transaction, with the order's row locked.
     */
    public function isStale(?\DateTimeInterface $stored): bool
    {
        return $stored !== null && $this->data->order->updatedAt < $stored;
    }

    /** @return array<string, mixed> */
    private static function fields(mixed $value, string $name): array
    {
        if (!is_array($value) || ($value !== [] && array_is_list($value))) {
            throw new InvalidEventException("$name is not an object.");
        }
        return $value;
    }

    /** @param array<string, mixed> $fields */
    private static function text(array $fields, string $name, string $path = ''): string
    {
        $text = $fields[$name] ?? null;
        if (!is_string($text) || $text === '') {
            throw new InvalidEventException("$path$name is not a text.");
        }
        return $text;
    }

    /** @param array<string, mixed> $fields */
    private static function numberOrNull(array $fields, string $name, string $path): ?float
    {
        $number = $fields[$name] ?? null;
        if ($number !== null && ((!is_int($number) && !is_float($number)) || !is_finite($number))) {
            throw new InvalidEventException("$path$name is not a number.");
        }
        return $number === null ? null : (float) $number;
    }

    /** @param array<string, mixed> $fields */
    private static function time(array $fields, string $name, string $path = ''): \DateTimeImmutable
    {
        $text = $fields[$name] ?? null;
        $time = false;
        if (is_string($text) && preg_match(self::TIME, $text) === 1) {
            $format = str_contains($text, '.') ? 'Y-m-d\TH:i:s.uP' : 'Y-m-d\TH:i:sP';
            $time = \DateTimeImmutable::createFromFormat($format, $text);
        }
        // createFromFormat turns the 31st of February into March, with a warning only.
        if ($time === false || (\DateTimeImmutable::getLastErrors() ?: ['warning_count' => 0])['warning_count'] > 0) {
            throw new InvalidEventException("$path$name is not a time with a time zone.");
        }
        return $time;
    }
}
