// Receives webhooks: verifies, reads, de-duplicates, ignores outdated events, then calls you.
import { EventInProgress, MemoryOrdering, MemoryDeduplicator } from "./dedupe.js";
import { InvalidEvent, parseEvent } from "./events.js";
import { VerificationError, TOLERANCE_SECONDS, checkedSecrets, verify } from "./verify.js";

/** @typedef {import("./events.js").WebhookEvent} WebhookEvent */
/** @typedef {import("./verify.js").Delivery} Delivery */
/** @typedef {import("./verify.js").HeaderSource} HeaderSource */

/**
 * What to answer to a webhook.
 * @typedef {object} Answer
 * @property {number} status
 * @property {string} text
 */

/**
 * @typedef {object} ReceiverOptions
 * @property {string | readonly string[]} secret The secret of the webhook, or all that may have
 *   signed: two while one replaces the other.
 * @property {(event: WebhookEvent, delivery: Delivery) => unknown} onEvent Called for each new
 *   event. Return within ten seconds, and put longer work into a queue of your own. When it throws,
 *   the answer is 500 and the event is delivered again.
 * @property {(error: unknown) => void} [onError] Called with what `onEvent` threw; by default it
 *   is written to the console.
 * @property {(error: VerificationError | InvalidEvent) => void} [onRefused] Called with why a webhook
 *   was refused; by default the reason is written to the console.
 * @property {{ once(id: string, handle: () => unknown): Promise<boolean> }} [deduplicator] Which events
 *   were handled: in the memory of this process unless you pass your own.
 * @property {{ inOrder(event: WebhookEvent, handle: () => unknown): Promise<boolean> } | null}
 *   [ordering] Which state of an order is held: in memory unless you pass your own. null leaves
 *   outdated events to `onEvent`.
 * @property {number} [maxBytes] Longer bodies are refused unread; 256 KiB.
 * @property {number} [tolerance] In seconds; 300.
 */

const MOST_BYTES = 256 * 1024;

/** Receives the webhooks of one URL. The adapters connect it to a web framework. */
export class Receiver {
  #options;
  #secrets;
  #deduplicator;
  #ordering;

  /** @param {ReceiverOptions} options */
  constructor(options) {
    if (typeof options.onEvent !== "function") throw new TypeError("onEvent is not a function.");
    this.#options = options;
    this.#secrets = checkedSecrets(options.secret);
    this.#deduplicator = options.deduplicator ?? new MemoryDeduplicator();
    this.#ordering = options.ordering === undefined ? new MemoryOrdering() : options.ordering;
    this.maxBytes = options.maxBytes ?? MOST_BYTES;
  }

  /**
   * Handle one webhook; what to answer. It does not throw because of a webhook.
   *
   * @param {HeaderSource} headers
   * @param {Uint8Array | ArrayBuffer | string} body The body exactly as it was received.
   * @returns {Promise<Answer>}
   */
  async receive(headers, body) {
    const { onEvent, onError = console.error } = this.#options;
    const tolerance = this.#options.tolerance ?? TOLERANCE_SECONDS;
    try {
      const delivery = verify(this.#secrets, headers, body, { tolerance });
      const event = parseEvent(body);
      const handle = () => onEvent(event, delivery);
      const ordering = this.#ordering;
      const inTurn = ordering ? () => ordering.inOrder(event, handle) : handle;
      const isFirst = await this.#deduplicator.once(event.id, inTurn);
      return answer(200, isFirst ? "Thank you." : "It was handled before.");
    } catch (error) {
      if (error instanceof VerificationError || error instanceof InvalidEvent) {
        this.#refuse(error);
        return answer(error instanceof VerificationError ? 401 : 400, error.message);
      }
      if (error instanceof EventInProgress) return answer(503, error.message);
      onError(error);
      return answer(500, "The event could not be handled.");
    }
  }

  /**
   * Report why a webhook was refused. Anybody can send one, so a report that throws ends nothing.
   *
   * @param {VerificationError | InvalidEvent} error
   */
  #refuse(error) {
    const { onRefused = logRefused } = this.#options;
    try {
      onRefused(error);
    } catch (failure) {
      console.error(failure);
    }
  }
}

/**
 * @param {number} status
 * @param {string} text
 * @returns {Answer}
 */
function answer(status, text) {
  return { status, text };
}

/** @param {Error} error */
function logRefused(error) {
  console.warn(`A webhook was refused: ${error.message}`);
}

/** @param {number} most */
export function tooLong(most) {
  return answer(413, `The body is longer than ${most} bytes.`);
}
