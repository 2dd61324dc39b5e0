// Declared by dedupe.js. Generated from the OpenAPI document by `make client`.
/**
 * The same event is being handled right now, and may yet fail. Answer 503: if the handling
 * succeeds, the repeat is recognised then; if not, the repeat is the one that counts.
 */
export class EventInProgress extends Error {
    /** @param {string} id */
    constructor(id: string);
}
/**
 * Remembers, in this process, the ids of the last events that were handled.
 *
 * Where several processes receive, or one restarts, keep the ids in your database instead: in a
 * table with a unique id, written in the transaction that has the event's effect.
 */
export class MemoryDeduplicator {
    /** @param {number} [most] */
    constructor(most?: number);
    /**
     * Handle an event unless it was handled; whether it was handled now. An event whose handling
     * throws was not handled, so its repeat is let through.
     *
     * @param {string} id
     * @param {() => unknown} handle
     * @returns {Promise<boolean>}
     */
    once(id: string, handle: () => unknown): Promise<boolean>;
    #private;
}
/**
 * Remembers, in this process, how new the last handled event of each order was.
 *
 * Where you store orders, compare with the stored `updated_at` instead: `isStale(event, held)`.
 */
export class MemoryOrdering {
    /** @param {number} [most] */
    constructor(most?: number);
    /**
     * Handle an event unless a newer one of its order was handled; whether it was handled. Events of
     * one order take turns.
     *
     * @param {import("./events.js").WebhookEvent} event
     * @param {() => unknown} handle
     * @returns {Promise<boolean>}
     */
    inOrder(event: import("./events.js").WebhookEvent, handle: () => unknown): Promise<boolean>;
    #private;
}
