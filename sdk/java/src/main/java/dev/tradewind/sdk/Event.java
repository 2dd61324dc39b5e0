// An event: the body of a webhook, as typed values.
package dev.tradewind.sdk;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.Map;

/**
 * One event. Events of a new kind and orders with a new status are events like the others.
 *
 * @param id {@code evt_…}; the same in every attempt and every resend
 * @param event {@link #ORDER_UPDATED} or {@link #PAYMENT_UPDATED}
 * @param createdAt when the order changed
 * @param data what it is about
 * @param raw the whole body, with the fields that this version does not know: Map, List, String, BigDecimal, Boolean
 *     and null
 */
public record Event(String id, String event, Instant createdAt, EventData data, Map<String, Object> raw) {
    public static final String ORDER_UPDATED = "order.updated";
    public static final String PAYMENT_UPDATED = "payment.updated";

    /**
     * Read a verified body. Fields that this version does not know are kept in {@code raw} only.
     *
     * @throws InvalidEventException where the body is not JSON, or a field is missing or has another type
     */
    public static Event parse(byte[] body) {
        Fields event = Fields.of(parsed(body), "The body", "");
        Fields data = Fields.of(event.get("data"), "data", "data.");
        Fields order = Fields.of(data.get("order"), "data.order", "data.order.");
        return new Event(
                event.text("id"),
                event.text("event"),
                event.time("created_at"),
                new EventData(new OrderState(
                        order.text("id"),
                        order.text("platform"),
                        order.get("order_id") == null ? null : order.text("order_id"),
                        order.text("status"),
                        order.text("payment_status"),
                        order.text("platform_payment_status"),
                        order.numberOrNull("total_amount_cny"),
                        order.time("updated_at"))),
                event.values());
    }

    /** Whether it was sent by {@code POST /v1/webhooks/:id/test}; its order does not exist. */
    public boolean isTest() {
        return id.startsWith("evt_test_");
    }

    /**
     * Whether to ignore this event, because a newer state of its order is stored already.
     *
     * <p>An equally new event is not stale: an order and its payment may change together, and then two events show
     * the same state. Compare and store in one transaction, with the order's row locked.
     *
     * @param stored the {@code data.order.updatedAt} of the newest event that you have applied to the order; null if
     *     there is none
     */
    public boolean isStale(Instant stored) {
        return stored != null && data.order().updatedAt().isBefore(stored);
    }

    private static Object parsed(byte[] body) {
        try {
            return Json.parse(body);
        } catch (Json.MalformedException error) {
            throw new InvalidEventException("The body is not JSON in UTF-8: " + error.getMessage());
        }
    }

    /** The fields of a JSON object, and the path that leads to them. */
    private record Fields(Map<String, Object> values, String path) {
        static Fields of(Object value, String name, String path) {
            if (!(value instanceof Map<?, ?> members)) {
                throw new InvalidEventException(name + " is not an object.");
            }
            @SuppressWarnings("unchecked") // Json makes no other maps
            Map<String, Object> values = (Map<String, Object>) members;
            return new Fields(values, path);
        }

        Object get(String name) {
            return values.get(name);
        }

        String text(String name) {
            if (get(name) instanceof String text && !text.isEmpty()) {
                return text;
            }
            throw new InvalidEventException(path + name + " is not a text.");
        }

        BigDecimal numberOrNull(String name) {
            Object number = get(name);
            if (number == null || number instanceof BigDecimal) {
                return (BigDecimal) number;
            }
            throw new InvalidEventException(path + name + " is not a number.");
        }

        Instant time(String name) {
            try {
                return OffsetDateTime.parse(get(name) instanceof String text ? text : "").toInstant();
            } catch (DateTimeParseException error) {
                throw new InvalidEventException(path + name + " is not a time with a time zone.");
            }
        }
    }
}
