// Verifies a webhook: the signature over the raw body, and how long ago it was sent.
package dev.tradewind.sdk;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Checks webhooks that were signed with any of some secrets. Threads may share it. */
public final class Verifier {
    /** How far the sender's clock and ours may be apart, either way. */
    public static final Duration TOLERANCE = Duration.ofSeconds(300);

    private static final String ALGORITHM = "HmacSHA256";
    private static final Pattern SIGNATURE = Pattern.compile("sha256=[0-9a-f]{64}");
    private static final Pattern TIMESTAMP = Pattern.compile("[0-9]{1,15}");

    private final List<SecretKeySpec> keys;
    private final Duration tolerance;
    private final InstantSource clock;

    /**
     * Make a verifier for one secret, or for several while one replaces another.
     *
     * @param secrets whole secrets, {@code whsec_} included
     * @throws IllegalArgumentException where a secret is empty
     */
    public Verifier(String... secrets) {
        this(List.of(secrets), TOLERANCE, InstantSource.system());
    }

    /**
     * Make a verifier with a tolerance and a clock of your own.
     *
     * @throws IllegalArgumentException where a secret is empty
     */
    public Verifier(List<String> secrets, Duration tolerance, InstantSource clock) {
        if (secrets.isEmpty() || secrets.stream().anyMatch(String::isBlank)) {
            throw new IllegalArgumentException(
                    "A secret is empty, and anybody can sign with an empty secret. Pass the whole secret of the"
                            + " webhook, whsec_ included.");
        }
        this.keys = secrets.stream()
                .map(secret -> new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ALGORITHM))
                .toList();
        this.tolerance = Objects.requireNonNull(tolerance);
        this.clock = Objects.requireNonNull(clock);
    }

    /**
     * Check a webhook whose headers are in a map, with names in any case.
     *
     * @param body the request's body exactly as it was received
     */
    public Delivery verify(Map<String, List<String>> headers, byte[] body) throws VerificationException {
        return verify(name -> valueOf(headers, name), body);
    }

    /**
     * Check a webhook. The time is checked only when the signature is right, so a stale webhook is one that was
     * genuine once.
     *
     * @param header gives the value of a header, and null where there is none, as {@code request::getHeader} does
     * @param body the request's body exactly as it was received
     */
    public Delivery verify(UnaryOperator<String> header, byte[] body) throws VerificationException {
        String signature = header.apply("X-Service-Signature");
        String timestamp = header.apply("X-Service-Timestamp");
        if (signature == null) {
            throw new VerificationException(VerificationFailure.SIGNATURE_MISSING);
        }
        if (!SIGNATURE.matcher(signature).matches()) {
            throw new VerificationException(VerificationFailure.SIGNATURE_MALFORMED);
        }
        if (timestamp == null) {
            throw new VerificationException(VerificationFailure.TIMESTAMP_MISSING);
        }
        if (!TIMESTAMP.matcher(timestamp).matches()) {
            throw new VerificationException(VerificationFailure.TIMESTAMP_MALFORMED);
        }
        if (!isSignedByAny(signature, timestamp, body)) {
            throw new VerificationException(VerificationFailure.SIGNATURE_WRONG);
        }
        long seconds = Long.parseLong(timestamp);
        Duration age = Duration.between(Instant.ofEpochSecond(seconds), clock.instant());
        if (age.compareTo(tolerance) > 0) {
            throw new VerificationException(VerificationFailure.TIMESTAMP_TOO_OLD);
        }
        if (age.negated().compareTo(tolerance) > 0) {
            throw new VerificationException(VerificationFailure.TIMESTAMP_TOO_NEW);
        }
        return new Delivery(seconds, orEmpty(header.apply("X-Service-Delivery")), orEmpty(header.apply("X-Service-Event")));
    }

    /** Compare in constant time with every secret, also when one has matched already. */
    private boolean isSignedByAny(String signature, String timestamp, byte[] body) {
        byte[] received = signature.getBytes(StandardCharsets.US_ASCII);
        boolean matches = false;
        for (SecretKeySpec key : keys) {
            matches |= MessageDigest.isEqual(sign(key, timestamp, body), received);
        }
        return matches;
    }

    private static byte[] sign(SecretKeySpec key, String timestamp, byte[] body) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            mac.update(timestamp.getBytes(StandardCharsets.US_ASCII));
            mac.update((byte) '.');
            String hex = HexFormat.of().formatHex(mac.doFinal(body));
            return ("sha256=" + hex).getBytes(StandardCharsets.US_ASCII);
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException("Every Java platform has HmacSHA256.", error);
        }
    }

    /** The value of a header; several values are joined as HTTP joins them. */
    private static String valueOf(Map<String, List<String>> headers, String name) {
        for (Map.Entry<String, List<String>> header : headers.entrySet()) {
            if (name.equalsIgnoreCase(header.getKey())) {
                return String.join(", ", header.getValue());
            }
        }
        return null;
    }

    private static String orEmpty(String value) {
        return value == null ? "" : value;
    }
}
