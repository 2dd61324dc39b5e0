// Reads the body of a webhook into an event.

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
  constructor(message) {
    super(message);
    this.name = "InvalidEvent";
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
const TEXTS = ["platform", "status", "payment_status", "platform_payment_status"];

/**
 * Read the body of a verified webhook, or throw InvalidEvent. Unknown fields and values are kept.
 *
 * @param {Uint8Array | ArrayBuffer | string} body
 * @returns {WebhookEvent}
 */
export function parseEvent(body) {
  /** @type {any} */
  let event;
  try {
    event = JSON.parse(typeof body === "string" ? body : utf8.decode(body));
  } catch {
    throw new InvalidEvent("The body is not JSON in UTF-8.");
  }
  const order = event?.data?.order;
  requireText(event?.id, "id");
  requireText(event.event, "event");
  requireTime(event.created_at, "created_at");
  requireText(order?.id, "data.order.id");
  requireTime(order.updated_at, "data.order.updated_at");
  for (const name of TEXTS) requireText(order[name], `data.order.${name}`);
  if (order.order_id !== null) requireText(order.order_id, "data.order.order_id");
  if (order.total_amount_cny !== null && typeof order.total_amount_cny !== "number") {
    throw new InvalidEvent("data.order.total_amount_cny is neither a number nor null.");
  }
  return event;
}

/**
 * @param {unknown} value
 * @param {string} name
 */
function requireText(value, name) {
  if (typeof value !== "string" || value === "") {
    throw new InvalidEvent(`The event has no ${name}.`);
  }
}

/**
 * @param {unknown} value
 * @param {string} name
 */
function requireTime(value, name) {
  requireText(value, name);
  if (!isTime(/** @type {string} */ (value))) throw new InvalidEvent(`${name} is not a time.`);
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** @param {string} text */
function isTime(text) {
  return TIME.test(text) && !Number.isNaN(Date.parse(text));
}

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
export function isStale(event, held) {
  if (held === null || held === undefined) return false;
  const moment = held instanceof Date ? held.getTime() : isTime(held) ? Date.parse(held) : NaN;
  if (Number.isNaN(moment)) throw new TypeError(`${held} is not a time with its time zone.`);
  return Date.parse(event.data.order.updated_at) < moment;
}
