// Handles an event once, and the events of an order in turn and never backwards.
import { isStale } from "./events.js";

const MOST_REMEMBERED = 100_000;

/**
 * The same event is being handled right now, and may yet fail. Answer 503: if the handling
 * succeeds, the repeat is recognised then; if not, the repeat is the one that counts.
 */
export class EventInProgress extends Error {
  /** @param {string} id */
  constructor(id) {
    super(`The event ${id} is being handled right now.`);
    this.name = "EventInProgress";
  }
}

/**
 * Remembers, in this process, the ids of the last events that were handled.
 *
 * Where several processes receive, or one restarts, keep the ids in your database instead: in a
 * table with a unique id, written in the transaction that has the event's effect.
 */
export class MemoryDeduplicator {
  /** @type {Set<string>} */
  #handled = new Set();
  /** @type {Set<string>} */
  #running = new Set();
  #most;

  /** @param {number} [most] */
  constructor(most = MOST_REMEMBERED) {
    this.#most = most;
  }

  /**
   * Handle an event unless it was handled; whether it was handled now. An event whose handling
   * throws was not handled, so its repeat is let through.
   *
   * @param {string} id
   * @param {() => unknown} handle
   * @returns {Promise<boolean>}
   */
  async once(id, handle) {
    if (this.#running.has(id)) throw new EventInProgress(id);
    if (this.#handled.has(id)) return false;
    this.#running.add(id);
    try {
      await handle();
    } finally {
      this.#running.delete(id);
    }
    this.#handled.add(id);
    for (const oldest of this.#handled) {
      if (this.#handled.size <= this.#most) break;
      this.#handled.delete(oldest);
    }
    return true;
  }
}

/**
 * Remembers, in this process, how new the last handled event of each order was.
 *
 * Where you store orders, compare with the stored `updated_at` instead: `isStale(event, held)`.
 */
export class MemoryOrdering {
  /** @type {Map<string, string>} */
  #held = new Map();
  /** @type {Map<string, Promise<unknown>>} */
  #turns = new Map();
  #most;

  /** @param {number} [most] */
  constructor(most = MOST_REMEMBERED) {
    this.#most = most;
  }

  /**
   * Handle an event unless a newer one of its order was handled; whether it was handled. Events of
   * one order take turns.
   *
   * @param {import("./events.js").WebhookEvent} event
   * @param {() => unknown} handle
   * @returns {Promise<boolean>}
   */
  inOrder(event, handle) {
    const order = event.data.order.id;
    const turn = (this.#turns.get(order) ?? Promise.resolve()).then(async () => {
      if (isStale(event, this.#held.get(order))) return false;
      await handle();
      this.#remember(order, event.data.order.updated_at);
      return true;
    });
    const settled = turn.then(
      () => {},
      () => {},
    );
    this.#turns.set(order, settled);
    settled.then(() => {
      if (this.#turns.get(order) === settled) this.#turns.delete(order);
    });
    return turn;
  }

  /**
   * @param {string} order
   * @param {string} updatedAt
   */
  #remember(order, updatedAt) {
    this.#held.delete(order); // so that it is the youngest again
    this.#held.set(order, updatedAt);
    for (const oldest of this.#held.keys()) {
      if (this.#held.size <= this.#most) break;
      this.#held.delete(oldest);
    }
  }
}
