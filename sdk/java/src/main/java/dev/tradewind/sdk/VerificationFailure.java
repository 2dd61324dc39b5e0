// The checks of a webhook, and the sentence for each that fails.
package dev.tradewind.sdk;

import java.util.Locale;

/** What can be wrong with a webhook. */
public enum VerificationFailure {
    SIGNATURE_MISSING("There is no X-Service-Signature header."),
    SIGNATURE_MALFORMED("X-Service-Signature is not sha256= and 64 lower-case hex digits."),
    TIMESTAMP_MISSING("There is no X-Service-Timestamp header."),
    TIMESTAMP_MALFORMED("X-Service-Timestamp is not a number of seconds."),
    SIGNATURE_WRONG(
            "The signature does not match the body. Verify the raw bytes as they were received, before any parsing,"
                    + " with the whole secret, whsec_ included."),
    TIMESTAMP_TOO_OLD("The webhook was sent too long ago."),
    TIMESTAMP_TOO_NEW("The webhook was sent in the future; is this machine's clock right?");

    private final String sentence;

    VerificationFailure(String sentence) {
        this.sentence = sentence;
    }

    /** A stable name for programs, such as {@code signature_wrong}. */
    public String code() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** A sentence for people. */
    public String sentence() {
        return sentence;
    }
}
