// The exception for an event that another thread handles right now.
package dev.tradewind.sdk;

/**
 * The same event is being handled right now, and may yet fail. Answer 503: if the other succeeds, the repeat is
 * recognised then; if not, the repeat is handled.
 */
public final class EventInProgressException extends Exception {
    private static final long serialVersionUID = 1L;

    public EventInProgressException() {
        super("The same event is being handled right now.");
    }
}
