// An endpoint with Java's own HTTP server: verifies each webhook, handles each event once, ignores stale ones.

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.tradewind.sdk.Deduplicator;
import dev.tradewind.sdk.Event;
import dev.tradewind.sdk.EventInProgressException;
import dev.tradewind.sdk.InvalidEventException;
import dev.tradewind.sdk.MemoryDeduplicator;
import dev.tradewind.sdk.OrderState;
import dev.tradewind.sdk.VerificationException;
import dev.tradewind.sdk.Verifier;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;

public final class Receiver {
    private static final int LARGEST_BODY = 256 * 1024;
    private static final int THREADS = 16;
    private static final int WAITING_CONNECTIONS = 128;

    private final Verifier verifier;
    private final Deduplicator deduplicator = new MemoryDeduplicator();
    private final Map<String, OrderState> orders = new ConcurrentHashMap<>();

    Receiver(Verifier verifier) {
        this.verifier = verifier;
    }

    public static void main(String[] args) throws IOException {
        // Several secrets, separated by commas, while one replaces another.
        String secrets = System.getenv().getOrDefault("WEBHOOK_SECRET", "");
        Receiver receiver = new Receiver(new Verifier(secrets.split(",")));
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "3000"));
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        HttpServer server = HttpServer.create(address, WAITING_CONNECTIONS);
        server.setExecutor(Executors.newFixedThreadPool(THREADS));
        server.createContext("/", receiver::answer);
        server.start();
        System.out.println("Listening on port " + port + ".");
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.sendResponseHeaders(receive(exchange), -1);
        }
    }

    private int receive(HttpExchange exchange) throws IOException {
        if (!exchange.getRequestMethod().equals("POST")) {
            return 405;
        }
        // The bytes as they came: nothing has parsed them.
        byte[] body = exchange.getRequestBody().readNBytes(LARGEST_BODY + 1);
        if (body.length > LARGEST_BODY) {
            return 413;
        }
        try {
            verifier.verify(exchange.getRequestHeaders(), body);
            Event event = Event.parse(body);
            deduplicator.once(event.id(), () -> store(event));
            return 204;
        } catch (VerificationException why) {
            System.err.println(why.getMessage());
            return 401;
        } catch (InvalidEventException why) {
            System.err.println(why.getMessage());
            return 400;
        } catch (EventInProgressException why) {
            return 503;
        } catch (RuntimeException error) {
            error.printStackTrace();
            return 500; // it is delivered again, and handled again
        }
    }

    /** Store the order unless a newer state of it is stored. */
    private void store(Event event) {
        orders.compute(event.data().order().id(), (id, stored) -> {
            if (event.isStale(stored == null ? null : stored.updatedAt())) {
                return stored;
            }
            System.out.println(event.id() + " " + id + " " + event.data().order().status());
            return event.data().order();
        });
    }
}
