// The exception for a webhook that must not be trusted.
package dev.tradewind.sdk;

/** A webhook must not be trusted: answer 401. {@link #reason} says which check failed. */
public final class VerificationException extends Exception {
    private static final long serialVersionUID = 1L;

    private final VerificationFailure reason;

    VerificationException(VerificationFailure reason) {
        super(reason.sentence());
        this.reason = reason;
    }

    /** The check that failed. */
    public VerificationFailure reason() {
        return reason;
    }
}
