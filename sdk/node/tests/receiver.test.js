// Receiving: each event once, none outdated, failures delivered again.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { inspect } from "node:util";

import {
  InvalidEvent,
  MemoryDeduplicator,
  MemoryOrdering,
  Receiver,
  isStale,
  nodeHandler,
  parseEvent,
  sign,
} from "../src/index.js";

const SECRET = `whsec_${"a".repeat(43)}`;

/**
 * @param {string} id
 * @param {number} second
 * @param {object} [changes]
 */
function body(id, second, changes = {}) {
  const order = {
    id: "ORD1",
    platform: "sandbox",
    order_id: null,
    status: "a status of the future",
    payment_status: "unpaid",
    platform_payment_status: "unpaid",
    total_amount_cny: 128.5,
    updated_at: `2026-11-15T08:00:0${second}.000Z`,
    ...changes,
  };
  const event = { id, event: "order.updated", created_at: "2026-11-15T08:00:00.000Z", data: { order } };
  return JSON.stringify({ ...event, a_new_field: 1 });
}

/**
 * @param {Receiver} receiver
 * @param {string} text
 */
async function send(receiver, text) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = sign(SECRET, timestamp, text);
  const headers = { "x-service-signature": signature, "x-service-timestamp": timestamp };
  return (await receiver.receive(headers, text)).status;
}

/** @param {import("../src/receiver.js").ReceiverOptions["onEvent"]} onEvent */
function receiverOf(onEvent) {
  return new Receiver({ secret: SECRET, onEvent, onError: () => {} });
}

test("each event is handled once, and none that is outdated", async () => {
  /** @type {string[]} */
  const handled = [];
  const receiver = receiverOf((event) => handled.push(event.id));
  for (const [id, second] of /** @type {const} */ ([["1", 2], ["1", 2], ["2", 1], ["3", 2], ["4", 3]])) {
    assert.equal(await send(receiver, body(id, second)), 200);
  }
  assert.deepEqual(handled, ["1", "3", "4"]);
});

test("a failure is answered with 500, and its repeat is handled", async () => {
  let calls = 0;
  const receiver = receiverOf(() => {
    calls += 1;
    if (calls === 1) throw new Error("The database is away.");
  });
  assert.equal(await send(receiver, body("1", 1)), 500);
  assert.equal(await send(receiver, body("1", 1)), 200);
  assert.equal(calls, 2);
});

test("a repeat during the handling is answered with 503", async () => {
  let finish = () => {};
  const receiver = receiverOf(() => new Promise((resolve) => (finish = () => resolve(null))));
  const first = send(receiver, body("1", 1));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await send(receiver, body("1", 1)), 503);
  finish();
  assert.equal(await first, 200);
});

test("events of one order take turns, and those of others do not wait", async () => {
  /** @type {string[]} */
  const steps = [];
  const receiver = receiverOf(async (event) => {
    steps.push(`start ${event.id}`);
    await new Promise((resolve) => setTimeout(resolve, event.id === "1" ? 20 : 0));
    steps.push(`end ${event.id}`);
  });
  const texts = [body("1", 2), body("2", 3), body("3", 1), body("4", 1, { id: "ORD2" })];
  await Promise.all(texts.map((text) => send(receiver, text)));
  assert.deepEqual(steps, ["start 1", "start 4", "end 4", "end 1", "start 2", "end 2"]);
});

test("why a webhook was refused is reported", async () => {
  /** @type {string[]} */
  const reasons = [];
  const options = { onEvent: () => {}, onRefused: (/** @type {Error} */ error) => reasons.push(error.name) };
  const other = new Receiver({ ...options, secret: `${SECRET}x` });
  assert.equal(await send(other, body("1", 1)), 401);
  assert.equal(await send(new Receiver({ ...options, secret: SECRET }), "{}"), 400);
  assert.deepEqual(reasons, ["VerificationError", "InvalidEvent"]);
  const failing = new Receiver({ ...options, secret: SECRET, onRefused: () => { throw new Error("no log"); } });
  assert.equal(await send(failing, "{}"), 400);
});

test("what is not an event is answered with 400", async () => {
  const receiver = receiverOf(() => assert.fail("It was handled."));
  const wrong = ["", "{", "null", "[]", "{}", body("", 1), body("1", 1, { updated_at: "yesterday" })];
  for (const text of [...wrong, body("1", 1, { total_amount_cny: "1" }), body("1", 1, { status: 5 })]) {
    assert.equal(await send(receiver, text), 400, text);
  }
  assert.throws(() => parseEvent(Buffer.from([0xff])), InvalidEvent);
});

test("memory is bounded", async () => {
  const deduplicator = new MemoryDeduplicator(2);
  const ordering = new MemoryOrdering(2);
  for (const id of ["1", "2", "3"]) {
    assert.ok(await deduplicator.once(id, () => {}));
    assert.ok(await ordering.inOrder(parseEvent(body(id, 5, { id })), () => {}));
  }
  assert.ok(await deduplicator.once("1", () => {}));
  assert.ok(!(await deduplicator.once("3", () => {})));
  assert.ok(await ordering.inOrder(parseEvent(body("4", 1, { id: "1" })), () => {}));
  assert.ok(!(await ordering.inOrder(parseEvent(body("5", 1, { id: "3" })), () => {})));
});

test("times are compared as times", () => {
  const event = parseEvent(body("1", 1));
  assert.ok(isStale(event, "2026-11-15T16:00:02+08:00"));
  assert.ok(!isStale(event, "2026-11-15T16:00:01+08:00"));
  assert.ok(!isStale(event, null));
  assert.ok(isStale(event, new Date("2026-11-15T08:00:02Z")));
  assert.throws(() => isStale(event, "2026-11-15T08:00:02"), /time zone/);
});

test("a body that a parser read before is an error that says what to do", async () => {
  const receive = nodeHandler(receiverOf(() => assert.fail("It was handled.")));
  const server = createServer(async (request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const isRaw = request.url === "/raw"; // as express.raw() does it
    const body = isRaw ? Buffer.concat(chunks) : JSON.parse(Buffer.concat(chunks).toString());
    await receive(Object.assign(request, { body }), response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const post = (/** @type {string} */ path) =>
    fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body: body("1", 1) });
  const [parsed, raw] = [await post("/"), await post("/raw")];
  assert.equal(parsed.status, 500);
  assert.match(await parsed.text(), /raw bytes/);
  assert.equal(raw.status, 401);
  assert.equal(await raw.text(), "There is no X-Service-Signature header.");
  server.closeAllConnections();
  server.close();
});

test("the secret is not printed", () => {
  assert.ok(!inspect(receiverOf(() => {}), { depth: 9, showHidden: true }).includes(SECRET));
});

test("a receiver without a secret cannot be made", () => {
  assert.throws(() => new Receiver({ secret: "", onEvent: () => {} }), /whsec_ included/);
});
