// Verifying: genuine webhooks pass, and the failed check is named.
import assert from "node:assert/strict";
import { test } from "node:test";

import { VerificationError, sign, verify } from "../src/index.js";

const SECRET = `whsec_${"a".repeat(43)}`;
const OTHER = `whsec_${"b".repeat(43)}`;
const NOW = 1_763_164_800;
const BODY = '{"id":"evt_1"}';

/**
 * @param {string} signature
 * @param {string | undefined} [timestamp]
 */
function headers(signature = sign(SECRET, NOW, BODY), timestamp = String(NOW)) {
  return { "X-Service-Signature": signature, "X-Service-Timestamp": timestamp };
}

/** The name of the failed check; null when the webhook is genuine. */
function failed(/** @type {any} */ given, body = BODY, secret = [SECRET], now = NOW) {
  try {
    verify(secret, given, body, { now });
    return null;
  } catch (error) {
    assert.ok(error instanceof VerificationError, String(error));
    return error.reason;
  }
}

test("the failed check is named", () => {
  const cases = /** @type {const} */ ([
    [{}, "signature_missing"],
    [headers("sha256="), "signature_malformed"],
    [headers("0".repeat(64)), "signature_malformed"],
    [headers(`sha1=${"0".repeat(40)}`), "signature_malformed"],
    [headers(sign(SECRET, NOW, BODY).toUpperCase()), "signature_malformed"],
    [headers(`${sign(SECRET, NOW, BODY)}\n`), "signature_malformed"],
    [{ "x-service-signature": [sign(SECRET, NOW, BODY), "x"] }, "signature_malformed"],
    [{ "x-service-signature": sign(SECRET, NOW, BODY) }, "timestamp_missing"],
    [headers(undefined, ""), "timestamp_malformed"],
    [headers(undefined, "-1"), "timestamp_malformed"],
    [headers(undefined, "1e9"), "timestamp_malformed"],
    [headers(undefined, ` ${NOW}`), "timestamp_malformed"],
    [headers(undefined, "\u0661\u0662"), "timestamp_malformed"],
    [headers(undefined, "9".repeat(5000)), "timestamp_malformed"],
    [headers(undefined, String(NOW + 1)), "signature_wrong"],
    [headers(undefined, `0${NOW}`), "signature_wrong"],
    [headers(`sha256=${"0".repeat(64)}`), "signature_wrong"],
    [headers(`sha256=${"0".repeat(64)}`, "1"), "signature_wrong"],
    [headers(), null],
  ]);
  for (const [given, check] of cases) assert.equal(failed(given), check);
});

test("the clocks may be five minutes apart, either way", () => {
  const ages = /** @type {const} */ ([
    [0, null],
    [300, null],
    [-300, null],
    [300.5, "timestamp_too_old"],
    [-301, "timestamp_too_new"],
    [Number.NaN, "timestamp_too_new"],
  ]);
  for (const [age, check] of ages) assert.equal(failed(headers(), BODY, [SECRET], NOW + age), check);
});

test("any of several secrets may have signed", () => {
  assert.equal(failed(headers(), BODY, [OTHER, SECRET]), null);
  assert.equal(failed(headers(), BODY, [OTHER]), "signature_wrong");
});

test("an empty secret is an error, whatever was signed", () => {
  for (const secret of ["", " \n", [], [""], [SECRET, ""], undefined]) {
    const given = headers(sign("", NOW, BODY));
    const call = () => verify(/** @type {any} */ (secret), given, BODY, { now: NOW });
    assert.throws(call, /whsec_ included/);
  }
});

test("a parsed body is an error that says what to do", () => {
  const parsed = /** @type {any} */ ({ id: "evt_1" });
  assert.throws(() => verify(SECRET, headers(), parsed, { now: NOW }), /raw bytes/);
});

test("headers are found in any case and in any shape", () => {
  const plain = { ...headers(), "x-service-delivery": "dlv_1", "X-SERVICE-EVENT": "order.updated" };
  const genuine = { timestamp: NOW, id: "dlv_1", event: "order.updated" };
  for (const given of [plain, new Headers(plain), new Map(Object.entries(plain))]) {
    assert.deepEqual(verify(SECRET, given, Buffer.from(BODY), { now: NOW }), genuine);
  }
});
