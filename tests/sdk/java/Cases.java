// Runs the cases of a test on the SDK: JSON on standard input, one line per case on standard output.
package dev.tradewind.sdk;

import java.io.IOException;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

public final class Cases {
    private Cases() {}

    public static void main(String[] args) throws IOException, Json.MalformedException, InterruptedException {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Map<?, ?> cases = (Map<?, ?>) Json.parse(System.in.readAllBytes());
        for (Object verification : (List<?>) cases.get("verify")) {
            out.println(verified((Map<?, ?>) verification));
        }
        for (Object body : (List<?>) cases.get("parse")) {
            out.println(parsed(Base64.getDecoder().decode((String) body)));
        }
        out.println(String.join(" ", deduplicated()));
    }

    private static String verified(Map<?, ?> given) {
        List<String> secrets = new ArrayList<>();
        ((List<?>) given.get("secrets")).forEach(secret -> secrets.add((String) secret));
        Map<String, List<String>> headers = new HashMap<>();
        ((Map<?, ?>) given.get("headers")).forEach((name, value) -> {
            List<String> values = new ArrayList<>();
            if (value instanceof List<?> several) {
                several.forEach(each -> values.add((String) each));
            } else {
                values.add((String) value);
            }
            headers.put((String) name, values);
        });
        BigDecimal now = (BigDecimal) given.get("now");
        InstantSource clock = now == null
                ? InstantSource.system()
                : InstantSource.fixed(
                        Instant.ofEpochMilli(now.multiply(new BigDecimal(1000)).longValueExact()));
        try {
            Verifier verifier = new Verifier(secrets, Verifier.TOLERANCE, clock);
            Delivery delivery = verifier.verify(headers, Base64.getDecoder().decode((String) given.get("body")));
            return "ok " + delivery.timestamp() + " " + delivery.id() + " " + delivery.event();
        } catch (VerificationException error) {
            return error.reason().code();
        } catch (IllegalArgumentException error) {
            return "empty_secret";
        }
    }

    private static String parsed(byte[] body) {
        Event event;
        try {
            event = Event.parse(body);
        } catch (InvalidEventException error) {
            return error.getMessage();
        }
        OrderState order = event.data().order();
        List<String> values = List.of(
                event.id(),
                event.event(),
                String.valueOf(event.createdAt().toEpochMilli()),
                order.id(),
                order.platform(),
                String.valueOf(order.orderId()),
                order.status(),
                order.paymentStatus(),
                order.platformPaymentStatus(),
                order.totalAmountCny() == null ? "null" : order.totalAmountCny().setScale(2).toPlainString(),
                String.valueOf(order.updatedAt().toEpochMilli()),
                String.valueOf(event.isTest()),
                String.valueOf(event.isStale(order.updatedAt().plusMillis(1))),
                String.valueOf(event.isStale(order.updatedAt())),
                String.valueOf(event.isStale(null)));
        return String.join(" ", values);
    }

    /** What becomes of events that fail, that are repeated, that two threads handle, and that are forgotten. */
    private static List<String> deduplicated() throws InterruptedException {
        Deduplicator deduplicator = new MemoryDeduplicator(2);
        List<String> outcomes = new ArrayList<>();
        outcomes.add(once(deduplicator, "evt_1", () -> {
            throw new IllegalStateException();
        }));
        outcomes.add(once(deduplicator, "evt_1", () -> {}));
        outcomes.add(once(deduplicator, "evt_1", () -> {}));
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        AtomicReference<String> other = new AtomicReference<>();
        Thread thread = new Thread(() -> other.set(once(deduplicator, "evt_2", () -> {
            started.countDown();
            released.await();
        })));
        thread.start();
        started.await();
        outcomes.add(once(deduplicator, "evt_2", () -> {}));
        released.countDown();
        thread.join();
        outcomes.add(other.get());
        outcomes.add(once(deduplicator, "evt_2", () -> {}));
        outcomes.add(once(deduplicator, "evt_3", () -> {}));
        outcomes.add(once(deduplicator, "evt_1", () -> {}));
        return outcomes;
    }

    private static String once(Deduplicator deduplicator, String id, Deduplicator.Handler<Exception> handler) {
        try {
            return deduplicator.once(id, handler) ? "handled" : "duplicate";
        } catch (EventInProgressException error) {
            return "in_progress";
        } catch (Exception error) {
            return "failed";
        }
    }
}
