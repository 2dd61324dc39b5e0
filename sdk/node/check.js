// Checks this SDK against a file of signature vectors: node check.js FILE
import { readFileSync } from "node:fs";
import { exit, argv, stderr, stdout } from "node:process";

import { VerificationError, verify } from "./src/verify.js";

// Of a longer text, the bytes at the start, at the end and in between are changed, not all.
const MOST_CHANGES = 2048;

class VectorError extends Error {}

/**
 * @typedef {object} Vector
 * @property {string} id
 * @property {string} secret
 * @property {string} timestamp
 * @property {Buffer} body
 * @property {string[]} signatures What the file says the header is; all must be the same.
 */

/** @param {string[]} args */
function main(args) {
  const [path] = args;
  if (path === undefined || args.length > 1) {
    stderr.write("Usage: node check.js FILE\n");
    return 1;
  }
  try {
    const { vectors, wrong } = read(path);
    const changes = vectors.map(check).reduce((sum, count) => sum + count, 0);
    wrong.forEach(checkWrong);
    const refused = changes + wrong.length;
    stdout.write(`${vectors.length} vectors verify; ${refused} changes of them are refused.\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof VectorError)) throw error;
    stderr.write(`${error.message}\n`);
    return 1;
  }
}

/** @param {string} path */
function read(path) {
  let file;
  try {
    file = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new VectorError(`${path} cannot be read: ${reason}`);
  }
  const listed = file?.vectors;
  if (!Array.isArray(listed) || listed.length === 0) {
    throw new VectorError(`${path} has no vectors.`);
  }
  const vectors = listed.map(vectorOf);
  const negative = Array.isArray(file.negative) ? file.negative : [];
  const wrong = negative.map((/** @type {any} */ each) => {
    const vector = vectors.find(({ id }) => id === each?.not_equal_to);
    if (vector === undefined || typeof each.hex !== "string") {
      throw new VectorError(`The negative vector ${each?.id} is of no vector in the file.`);
    }
    return { id: String(each.id), vector, signature: `sha256=${each.hex}` };
  });
  return { vectors, wrong };
}

/**
 * @param {any} raw
 * @param {number} index
 * @returns {Vector}
 */
function vectorOf(raw, index) {
  const id = String(raw?.id ?? `number ${index + 1}`);
  for (const name of ["secret", "timestamp"]) {
    if (typeof raw?.[name] !== "string") throw new VectorError(`Vector ${id} has no ${name}.`);
  }
  const signatures = [
    ...(typeof raw.expected_header === "string" ? [raw.expected_header] : []),
    ...(typeof raw.expected_hex === "string" ? [`sha256=${raw.expected_hex}`] : []),
  ];
  if (signatures.length === 0) throw new VectorError(`Vector ${id} has no expected_header.`);
  return { id, secret: raw.secret, timestamp: raw.timestamp, body: bodyOf(raw, id), signatures };
}

/**
 * @param {any} raw
 * @param {string} id
 */
function bodyOf(raw, id) {
  if (typeof raw.body_base64 === "string") {
    const body = Buffer.from(raw.body_base64, "base64");
    if (body.toString("base64") !== raw.body_base64) {
      throw new VectorError(`The body_base64 of vector ${id} is not base64.`);
    }
    return body;
  }
  if (typeof raw.body_text === "string") return Buffer.from(raw.body_text, "utf8");
  throw new VectorError(`Vector ${id} has no body_base64.`);
}

/**
 * Verify a vector, then every change of it; how many changes there were.
 *
 * @param {Vector} vector
 */
function check(vector) {
  const { id, secret, timestamp, body, signatures } = vector;
  for (const signature of signatures) {
    const failed = failedCheck(secret, timestamp, body, signature);
    if (failed) throw new VectorError(`Vector ${id} does not verify: ${failed}`);
  }
  const [signature = ""] = signatures;
  let count = 0;
  for (const changed of changedBytes(body)) {
    refuse(`${id} with a changed body`, secret, timestamp, changed, signature);
    count += 1;
  }
  for (const changed of changedDigits(timestamp)) {
    refuse(`${id} with a changed timestamp`, secret, changed, body, signature);
    count += 1;
  }
  for (const changed of changedCharacters(secret)) {
    refuse(`${id} with a changed secret`, changed, timestamp, body, signature);
    count += 1;
  }
  for (const bit of [0x01, 0x20]) {
    for (const changed of changedBytes(Buffer.from(signature, "latin1"), bit)) {
      const text = changed.toString("latin1");
      refuse(`${id} with a changed signature`, secret, timestamp, body, text);
      count += 1;
    }
  }
  return count;
}

/** @param {{ id: string, vector: Vector, signature: string }} wrong */
function checkWrong({ id, vector, signature }) {
  const { secret, timestamp, body } = vector;
  refuse(`${vector.id} with the signature ${id}`, secret, timestamp, body, signature);
}

/**
 * @param {string} what
 * @param {string} secret
 * @param {string} timestamp
 * @param {Buffer} body
 * @param {string} signature
 */
function refuse(what, secret, timestamp, body, signature) {
  if (failedCheck(secret, timestamp, body, signature) === null) {
    throw new VectorError(`Vector ${what} is accepted.`);
  }
}

/**
 * Why verify refuses; null when it accepts. It runs at the time of the timestamp, so that a
 * change is refused for what it is and not for its age.
 *
 * @param {string} secret
 * @param {string} timestamp
 * @param {Buffer} body
 * @param {string} signature
 */
function failedCheck(secret, timestamp, body, signature) {
  const headers = { "X-Service-Signature": signature, "X-Service-Timestamp": timestamp };
  try {
    verify(secret, headers, body, { now: Number(timestamp) });
    return null;
  } catch (error) {
    if (error instanceof VerificationError || error instanceof TypeError) return error.message;
    throw error;
  }
}

/** @param {number} length */
function positions(length) {
  if (length <= MOST_CHANGES) return Array.from({ length }, (_, index) => index);
  const step = (length - 1) / (MOST_CHANGES - 1);
  return Array.from({ length: MOST_CHANGES }, (_, index) => Math.round(index * step));
}

/**
 * @param {Buffer} bytes
 * @param {number} [bit]
 */
function* changedBytes(bytes, bit = 0x01) {
  for (const at of positions(bytes.length)) {
    const changed = Buffer.from(bytes);
    changed[at] = /** @type {number} */ (changed[at]) ^ bit;
    yield changed;
  }
  // An empty text has no byte to change.
  if (bytes.length === 0) yield Buffer.from([bit]);
}

/** @param {string} text */
function* changedDigits(text) {
  for (let at = 0; at < text.length; at += 1) {
    const digit = (Number(text[at]) + 1) % 10;
    yield `${text.slice(0, at)}${digit}${text.slice(at + 1)}`;
  }
}

/** @param {string} text */
function* changedCharacters(text) {
  const characters = [...text];
  for (const at of positions(characters.length)) {
    const code = /** @type {string} */ (characters[at]).codePointAt(0) ?? 0;
    const changed = [...characters];
    changed[at] = String.fromCodePoint(code ^ 0x01);
    yield changed.join("");
  }
}

exit(main(argv.slice(2)));
