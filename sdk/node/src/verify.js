// Verifies a webhook: the signature over the raw body, and how long ago it was sent.
import { createHmac, timingSafeEqual } from "node:crypto";

/** How many seconds the sender's clock and ours may be apart, either way. */
export const TOLERANCE_SECONDS = 300;

const SIGNATURE_HEADER = "X-Service-Signature";
const TIMESTAMP_HEADER = "X-Service-Timestamp";
const DELIVERY_HEADER = "X-Service-Delivery";
const EVENT_HEADER = "X-Service-Event";

const SIGNATURE = /^sha256=[0-9a-f]{64}$/;
const TIMESTAMP = /^[0-9]{1,15}$/;

const SENTENCES = /** @type {const} */ ({
  signature_missing: `There is no ${SIGNATURE_HEADER} header.`,
  signature_malformed: `${SIGNATURE_HEADER} is not sha256= and 64 lower-case hex digits.`,
  timestamp_missing: `There is no ${TIMESTAMP_HEADER} header.`,
  timestamp_malformed: `${TIMESTAMP_HEADER} is not a number of seconds.`,
  signature_wrong:
    "The signature does not match the body. Verify the raw bytes as they were received, before " +
    "any parsing, with the whole secret, whsec_ included.",
  timestamp_too_old: "The webhook was sent too long ago.",
  timestamp_too_new: "The webhook was sent in the future; is this machine's clock right?",
});

/**
 * Which check a webhook failed.
 * @typedef {keyof typeof SENTENCES} VerificationFailure
 */

/**
 * What the headers of a genuine webhook say. Only `timestamp` and the body are signed.
 * @typedef {object} Delivery
 * @property {number} timestamp Unix time in seconds at which it was sent.
 * @property {string} id The id of this attempt; it differs for every retry.
 * @property {string} event The name of the event.
 */

/**
 * Headers as Node's http, a Web `Request` or a plain object has them, in any case.
 * @typedef {Headers | ReadonlyMap<string, string>
 *   | Readonly<Record<string, string | readonly string[] | undefined>>} HeaderSource
 */

/** A webhook that must not be trusted. `reason` says which check failed. */
export class VerificationError extends Error {
  /** @param {VerificationFailure} reason */
  constructor(reason) {
    super(SENTENCES[reason]);
    this.name = "VerificationError";
    /** @type {VerificationFailure} */
    this.reason = reason;
  }
}

/**
 * Check a webhook, or throw VerificationError.
 *
 * `body` is the request's body exactly as it was received. Pass several secrets while one replaces
 * another: any of them may have signed. The time is compared only when the signature is right, so
 * a webhook that is too old was genuine once. An empty secret is a TypeError: anybody can sign
 * with it.
 *
 * @param {string | readonly string[]} secret
 * @param {HeaderSource} headers
 * @param {Uint8Array | ArrayBuffer | string} body
 * @param {{ now?: number, tolerance?: number }} [options] `now` is Unix time in seconds.
 * @returns {Delivery}
 */
export function verify(secret, headers, body, options = {}) {
  const secrets = checkedSecrets(secret);
  const bytes = rawBytes(body);
  const { now = Date.now() / 1000, tolerance = TOLERANCE_SECONDS } = options;
  const signature = headerValue(headers, SIGNATURE_HEADER);
  const timestamp = headerValue(headers, TIMESTAMP_HEADER);
  if (signature === undefined) throw new VerificationError("signature_missing");
  if (!SIGNATURE.test(signature)) throw new VerificationError("signature_malformed");
  if (timestamp === undefined) throw new VerificationError("timestamp_missing");
  if (!TIMESTAMP.test(timestamp)) throw new VerificationError("timestamp_malformed");
  if (!isSignedByAny(secrets, signature, timestamp, bytes)) throw new VerificationError("signature_wrong");
  const age = now - Number(timestamp);
  if (age > tolerance) throw new VerificationError("timestamp_too_old");
  // Written so that a time that is not a number is refused, too.
  if (!(age >= -tolerance)) throw new VerificationError("timestamp_too_new");
  return {
    timestamp: Number(timestamp),
    id: headerValue(headers, DELIVERY_HEADER) ?? "",
    event: headerValue(headers, EVENT_HEADER) ?? "",
  };
}

/**
 * The value of X-Service-Signature for a body, for tests of your own endpoint.
 *
 * @param {string} secret
 * @param {number | string} timestamp Unix time in seconds, as it is sent.
 * @param {Uint8Array | ArrayBuffer | string} body
 * @returns {string}
 */
export function sign(secret, timestamp, body) {
  return signature(secret, String(timestamp), rawBytes(body));
}

/**
 * @param {string} secret
 * @param {string} timestamp
 * @param {Uint8Array} body
 */
function signature(secret, timestamp, body) {
  const digest = createHmac("sha256", Buffer.from(secret, "utf8"))
    .update(`${timestamp}.`, "utf8")
    .update(body)
    .digest("hex");
  return `sha256=${digest}`;
}

/**
 * Compare in constant time with every secret, whether or not one has fitted already.
 *
 * @param {readonly string[]} secrets
 * @param {string} received
 * @param {string} timestamp
 * @param {Uint8Array} body
 */
function isSignedByAny(secrets, received, timestamp, body) {
  const actual = Buffer.from(received, "latin1");
  let fits = false;
  for (const secret of secrets) {
    const expected = Buffer.from(signature(secret, timestamp, body), "latin1");
    fits = timingSafeEqual(actual, expected) || fits;
  }
  return fits;
}

/**
 * @param {string | readonly string[]} secret
 * @returns {readonly string[]}
 */
export function checkedSecrets(secret) {
  const secrets = typeof secret === "string" ? [secret] : secret;
  const isUsable = Array.isArray(secrets) && secrets.length > 0;
  if (!isUsable || !secrets.every((each) => typeof each === "string" && each.trim() !== "")) {
    throw new TypeError(
      "A secret is empty, and anybody can sign with an empty secret. Pass the whole secret of " +
        "the webhook, whsec_ included.",
    );
  }
  return secrets;
}

/**
 * @param {Uint8Array | ArrayBuffer | string} body
 * @returns {Uint8Array}
 */
function rawBytes(body) {
  if (body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (typeof body === "string") return Buffer.from(body, "utf8");
  throw new TypeError(
    "The body is not the raw bytes of the request. A JSON parser that ran before has changed " +
      "them: read the body as a Buffer.",
  );
}

/**
 * @param {HeaderSource} headers
 * @param {string} name
 * @returns {string | undefined}
 */
function headerValue(headers, name) {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const wanted = name.toLowerCase();
  const entries = headers instanceof Map ? headers.entries() : Object.entries(headers);
  for (const [key, value] of entries) {
    if (key.toLowerCase() === wanted && value !== undefined) {
      return Array.isArray(value) ? value.join(", ") : String(value);
    }
  }
  return undefined;
}
