// Decides whether an event is handled.
package dev.tradewind.sdk;

/** Decides whether an event is handled. Write your own to keep the ids in your database. */
public interface Deduplicator {
    /** What to do with an event. */
    @FunctionalInterface
    interface Handler<E extends Exception> {
        void handle() throws E;
    }

    /**
     * Call the handler unless this event was handled before; return whether it was called.
     *
     * <p>An event whose handling throws was not handled, so its repeat is let through.
     *
     * @throws EventInProgressException while the same event is being handled elsewhere
     */
    <E extends Exception> boolean once(String eventId, Handler<E> handler) throws EventInProgressException, E;
}
