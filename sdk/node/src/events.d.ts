// Declared by events.js. Generated from the OpenAPI document by `make client`.
/**
 * Read the body of a verified webhook, or throw InvalidEvent. Unknown fields and values are kept.
 *
 * @param {Uint8Array | ArrayBuffer | string} body
 * @returns {WebhookEvent}
 */
export function parseEvent(body: Uint8Array | ArrayBuffer | string): WebhookEvent;
/**
 * Whether to ignore an event, because a newer state of its order is held already.
 *
 * `held` is the `data.order.updated_at` of the newest event that you have applied to the order, or
 * null. An equally new event is not old: an order and its payment may change together, and
 * then two events show the same state. Compare and store in one transaction, with the order's row
 * locked, or two events that arrive together may both win.
 *
 * @param {WebhookEvent} event
 * @param {string | Date | null | undefined} held
 * @returns {boolean}
 */
export function isStale(event: WebhookEvent, held: string | Date | null | undefined): boolean;
/**
 * The order as an event shows it. New fields may be added; the values of the three statuses, too.
 * @typedef {object} EventOrder
 * @property {string} id Our id, starting with `ORD`: look the order up by it.
 * @property {string} platform
 * @property {string | null} order_id Its id on the platform; null before it has one.
 * @property {string} status
 * @property {string} payment_status
 * @property {string} platform_payment_status
 * @property {number | null} total_amount_cny
 * @property {string} updated_at ISO 8601.
 */
/**
 * The body of every webhook. Both kinds have the same shape, and new kinds may be added.
 * @typedef {object} WebhookEvent
 * @property {string} id Starts with `evt_`; the same in every delivery of this event.
 * @property {"order.updated" | "payment.updated" | (string & {})} event
 * @property {string} created_at ISO 8601.
 * @property {{ order: EventOrder }} data
 */
/** A body that is not an event. */
export class InvalidEvent extends Error {
    /** @param {string} message */
    constructor(message: string);
}
/**
 * The order as an event shows it. New fields may be added; the values of the three statuses, too.
 */
export type EventOrder = {
    /**
     * Our id, starting with `ORD`: look the order up by it.
     */
    id: string;
    platform: string;
    /**
     * Its id on the platform; null before it has one.
     */
    order_id: string | null;
    status: string;
    payment_status: string;
    platform_payment_status: string;
    total_amount_cny: number | null;
    /**
     * ISO 8601.
     */
    updated_at: string;
};
/**
 * The body of every webhook. Both kinds have the same shape, and new kinds may be added.
 */
export type WebhookEvent = {
    /**
     * Starts with `evt_`; the same in every delivery of this event.
     */
    id: string;
    event: "order.updated" | "payment.updated" | (string & {});
    /**
     * ISO 8601.
     */
    created_at: string;
    data: {
        order: EventOrder;
    };
};
