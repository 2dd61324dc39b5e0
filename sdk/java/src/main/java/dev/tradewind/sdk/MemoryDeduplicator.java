// Remembers handled events in this process.
package dev.tradewind.sdk;

import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Remembers the ids of the events that this process handled last. Threads may share it.
 *
 * <p>If several processes receive, or one restarts, keep the ids in your database instead: in a table with a unique
 * column, written in the transaction that has the event's effect.
 */
public final class MemoryDeduplicator implements Deduplicator {
    private static final int CAPACITY = 100_000;

    private final int capacity;
    private final Set<String> handled = new LinkedHashSet<>();
    private final Set<String> inProgress = new HashSet<>();

    public MemoryDeduplicator() {
        this(CAPACITY);
    }

    public MemoryDeduplicator(int capacity) {
        this.capacity = capacity;
    }

    @Override
    public <E extends Exception> boolean once(String eventId, Handler<E> handler) throws EventInProgressException, E {
        synchronized (this) {
            if (inProgress.contains(eventId)) {
                throw new EventInProgressException();
            }
            if (handled.contains(eventId)) {
                return false;
            }
            inProgress.add(eventId);
        }
        boolean isDone = false;
        try {
            handler.handle();
            isDone = true;
        } finally {
            finish(eventId, isDone);
        }
        return true;
    }

    private synchronized void finish(String eventId, boolean isDone) {
        inProgress.remove(eventId);
        if (isDone) {
            handled.add(eventId);
        }
        while (handled.size() > capacity) {
            handled.remove(handled.iterator().next());
        }
    }
}
