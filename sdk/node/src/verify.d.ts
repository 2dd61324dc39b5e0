// Declared by verify.js. Generated from the OpenAPI document by `make client`.
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
export function verify(secret: string | readonly string[], headers: HeaderSource, body: Uint8Array | ArrayBuffer | string, options?: {
    now?: number;
    tolerance?: number;
}): Delivery;
/**
 * The value of X-Service-Signature for a body, for tests of your own endpoint.
 *
 * @param {string} secret
 * @param {number | string} timestamp Unix time in seconds, as it is sent.
 * @param {Uint8Array | ArrayBuffer | string} body
 * @returns {string}
 */
export function sign(secret: string, timestamp: number | string, body: Uint8Array | ArrayBuffer | string): string;
/**
 * @param {string | readonly string[]} secret
 * @returns {readonly string[]}
 */
export function checkedSecrets(secret: string | readonly string[]): readonly string[];
/** How many seconds the sender's clock and ours may be apart, either way. */
export const TOLERANCE_SECONDS: 300;
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
    constructor(reason: VerificationFailure);
    /** @type {VerificationFailure} */
    reason: VerificationFailure;
}
/**
 * Which check a webhook failed.
 */
export type VerificationFailure = keyof typeof SENTENCES;
/**
 * What the headers of a genuine webhook say. Only `timestamp` and the body are signed.
 */
export type Delivery = {
    /**
     * Unix time in seconds at which it was sent.
     */
    timestamp: number;
    /**
     * The id of this attempt; it differs for every retry.
     */
    id: string;
    /**
     * The name of the event.
     */
    event: string;
};
/**
 * Headers as Node's http, a Web `Request` or a plain object has them, in any case.
 */
export type HeaderSource = Headers | ReadonlyMap<string, string> | Readonly<Record<string, string | readonly string[] | undefined>>;
declare namespace SENTENCES {
    let signature_missing: "There is no X-Service-Signature header.";
    let signature_malformed: "X-Service-Signature is not sha256= and 64 lower-case hex digits.";
    let timestamp_missing: "There is no X-Service-Timestamp header.";
    let timestamp_malformed: "X-Service-Timestamp is not a number of seconds.";
    let signature_wrong: string;
    let timestamp_too_old: "The webhook was sent too long ago.";
    let timestamp_too_new: "The webhook was sent in the future; is this machine's clock right?";
}
export {};
