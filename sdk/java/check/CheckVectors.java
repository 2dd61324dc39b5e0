// Checks this package against a file of signature vectors: sdk/check java FILE.
package dev.tradewind.sdk;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

final class CheckVectors {
    private static final int MOST_POSITIONS = 512;
    private static final int[] BITS = {0x01, 0x20, 0x80};

    private CheckVectors() {}

    /** The vectors or this package are wrong; the message says how. */
    private static final class CheckFailed extends Exception {
        private static final long serialVersionUID = 1L;

        CheckFailed(String message) {
            super(message);
        }
    }

    private record Vector(String id, String secret, String timestamp, byte[] body, List<String> signatures) {
        void check() throws CheckFailed {
            for (String signature : signatures) {
                if (!isGenuine(secret, timestamp, body, signature)) {
                    throw new CheckFailed("Vector " + id + " does not verify.");
                }
            }
            String signature = signatures.get(0);
            for (byte[] changed : changes(body)) {
                refuse("body", isGenuine(secret, timestamp, changed, signature));
            }
            for (String changed : changes(timestamp)) {
                refuse("timestamp", isGenuine(secret, changed, body, signature));
            }
            for (String changed : changes(secret)) {
                refuse("secret", isGenuine(changed, timestamp, body, signature));
            }
            for (String changed : changes(signature)) {
                refuse("signature", isGenuine(secret, timestamp, body, changed));
            }
        }

        private void refuse(String part, boolean isGenuine) throws CheckFailed {
            if (isGenuine) {
                throw new CheckFailed("Vector " + id + " verifies although its " + part + " was changed.");
            }
        }
    }

    public static void main(String[] args) {
        if (args.length != 1) {
            System.err.println("Usage: CheckVectors FILE");
            System.exit(2);
        }
        try {
            int count = check(args[0]);
            System.out.println("java: " + count + " vectors verify, and none of them with a changed byte.");
        } catch (CheckFailed error) {
            System.err.println("java: " + error.getMessage());
            System.exit(1);
        }
    }

    private static int check(String path) throws CheckFailed {
        Object file = read(path);
        List<?> listed = list(file, "vectors");
        if (listed.isEmpty()) {
            throw new CheckFailed(path + " is not a JSON file with a list of vectors.");
        }
        Map<String, Vector> byId = new HashMap<>();
        for (int number = 0; number < listed.size(); number++) {
            Vector vector = vector(listed.get(number), number + 1);
            byId.put(vector.id(), vector);
            vector.check();
        }
        for (Object wrong : list(file, "negative")) {
            Vector vector = byId.get(text(wrong, "not_equal_to"));
            String hex = text(wrong, "hex");
            if (vector == null || hex == null) {
                throw new CheckFailed("An entry of negative needs hex, and not_equal_to with the id of a vector.");
            }
            if (isGenuine(vector.secret(), vector.timestamp(), vector.body(), "sha256=" + hex)) {
                throw new CheckFailed("Vector " + vector.id() + " verifies with the signature of a wrong rule.");
            }
        }
        return listed.size();
    }

    private static Object read(String path) throws CheckFailed {
        try {
            return Json.parse(Files.readAllBytes(Path.of(path)));
        } catch (IOException error) {
            throw new CheckFailed(path + " cannot be read.");
        } catch (Json.MalformedException error) {
            throw new CheckFailed(path + " is not JSON: " + error.getMessage());
        }
    }

    private static Vector vector(Object value, int number) throws CheckFailed {
        String id = text(value, "id") == null ? "number " + number : text(value, "id");
        String secret = text(value, "secret");
        String timestamp = text(value, "timestamp");
        byte[] body = body(value);
        List<String> signatures = new ArrayList<>();
        if (text(value, "expected_header") != null) {
            signatures.add(text(value, "expected_header"));
        }
        if (text(value, "expected_hex") != null) {
            signatures.add("sha256=" + text(value, "expected_hex"));
        }
        if (secret == null || timestamp == null || body == null || signatures.isEmpty()) {
            throw new CheckFailed("Vector " + id + " needs secret, timestamp, body_base64 and expected_header.");
        }
        return new Vector(id, secret, timestamp, body, signatures);
    }

    private static byte[] body(Object vector) {
        String base64 = text(vector, "body_base64");
        String text = text(vector, "body_text");
        if (base64 == null) {
            return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
        }
        try {
            return Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException error) {
            return null;
        }
    }

    private static String text(Object object, String name) {
        return object instanceof Map<?, ?> fields && fields.get(name) instanceof String text ? text : null;
    }

    private static List<?> list(Object object, String name) {
        return object instanceof Map<?, ?> fields && fields.get(name) instanceof List<?> items ? items : List.of();
    }

    /** Whether the package takes a webhook as genuine, at the time that it was sent. */
    private static boolean isGenuine(String secret, String timestamp, byte[] body, String signature) {
        Map<String, List<String>> headers =
                Map.of("X-Service-Signature", List.of(signature), "X-Service-Timestamp", List.of(timestamp));
        try {
            new Verifier(List.of(secret), Verifier.TOLERANCE, at(timestamp)).verify(headers, body);
            return true;
        } catch (VerificationException | IllegalArgumentException error) {
            return false;
        }
    }

    private static InstantSource at(String timestamp) {
        boolean isNumber = timestamp.matches("[0-9]{1,15}");
        return InstantSource.fixed(Instant.ofEpochSecond(isNumber ? Long.parseLong(timestamp) : 0));
    }

    /** The bytes with one changed, at every position or at many; one byte more where there is none. */
    private static Iterable<byte[]> changes(byte[] bytes) {
        if (bytes.length == 0) {
            return List.of(new byte[] {'0'});
        }
        int step = Math.max(1, bytes.length / MOST_POSITIONS);
        Stream<byte[]> changes = IntStream.iterate(0, at -> at < bytes.length, at -> at + step)
                .boxed()
                .flatMap(at -> Arrays.stream(BITS).mapToObj(bit -> {
                    byte[] changed = bytes.clone();
                    changed[at] ^= (byte) bit;
                    return changed;
                }));
        return changes::iterator;
    }

    private static List<String> changes(String text) {
        List<String> changes = new ArrayList<>();
        for (int at = 0; at < text.length(); at += Math.max(1, text.length() / MOST_POSITIONS)) {
            for (int bit : BITS) {
                StringBuilder changed = new StringBuilder(text);
                changed.setCharAt(at, (char) (text.charAt(at) ^ bit));
                changes.add(changed.toString());
            }
        }
        return changes;
    }
}
