// The exception for a body that is not an event.
package dev.tradewind.sdk;

/** A body is not an event; the message names the field. Answer 400. */
public final class InvalidEventException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    InvalidEventException(String message) {
        super(message);
    }
}
