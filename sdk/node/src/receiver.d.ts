// Declared by receiver.js. Generated from the OpenAPI document by `make client`.
/** @param {number} most */
export function tooLong(most: number): Answer;
/** Receives the webhooks of one URL. The adapters connect it to a web framework. */
export class Receiver {
    /** @param {ReceiverOptions} options */
    constructor(options: ReceiverOptions);
    maxBytes: number;
    /**
     * Handle one webhook; what to answer. It does not throw because of a webhook.
     *
     * @param {HeaderSource} headers
     * @param {Uint8Array | ArrayBuffer | string} body The body exactly as it was received.
     * @returns {Promise<Answer>}
     */
    receive(headers: HeaderSource, body: Uint8Array | ArrayBuffer | string): Promise<Answer>;
    #private;
}
export type WebhookEvent = import("./events.js").WebhookEvent;
export type Delivery = import("./verify.js").Delivery;
export type HeaderSource = import("./verify.js").HeaderSource;
/**
 * What to answer to a webhook.
 */
export type Answer = {
    status: number;
    text: string;
};
export type ReceiverOptions = {
    /**
     * The secret of the webhook, or all that may have
     * signed: two while one replaces the other.
     */
    secret: string | readonly string[];
    /**
     * Called for each new
     * event. Return within ten seconds, and put longer work into a queue of your own. When it throws,
     * the answer is 500 and the event is delivered again.
     */
    onEvent: (event: WebhookEvent, delivery: Delivery) => unknown;
    /**
     * Called with what `onEvent` threw; by default it
     * is written to the console.
     */
    onError?: (error: unknown) => void;
    /**
     * Called with why a webhook
     * was refused; by default the reason is written to the console.
     */
    onRefused?: (error: VerificationError | InvalidEvent) => void;
    /**
     * Which events
     * were handled: in the memory of this process unless you pass your own.
     */
    deduplicator?: {
        once(id: string, handle: () => unknown): Promise<boolean>;
    };
    /**
     * Which state of an order is held: in memory unless you pass your own. null leaves
     * outdated events to `onEvent`.
     */
    ordering?: {
        inOrder(event: WebhookEvent, handle: () => unknown): Promise<boolean>;
    } | null;
    /**
     * Longer bodies are refused unread; 256 KiB.
     */
    maxBytes?: number;
    /**
     * In seconds; 300.
     */
    tolerance?: number;
};
import { VerificationError } from "./verify.js";
import { InvalidEvent } from "./events.js";
