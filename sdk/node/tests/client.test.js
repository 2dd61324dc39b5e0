// The client against a server that fails on request: retries, keys, pages, errors.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, beforeEach, test } from "node:test";

import {
  ApiError,
  Client,
  ConnectionFailed,
  InvalidRequest,
  NotFound,
  RateLimited,
  TimedOut,
} from "../src/index.js";

/** @typedef {{ status: number, body?: object, headers?: Record<string, string> }} Reply */

/** @type {{ method: string, url: string, key: string | undefined, body: string, auth: string }[]} */
let requests = [];
/** @type {(Reply | "hang up" | "silence")[]} */
let replies = [];

const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { method = "", url = "", headers } = request;
  const key = headers["idempotency-key"]?.toString();
  requests.push({ method, url, key, body, auth: headers["x-api-key"]?.toString() ?? "" });
  const reply = replies.shift() ?? { status: 200, body: {} };
  if (reply === "hang up") request.socket.destroy();
  else if (reply !== "silence") {
    const text = reply.body === undefined ? "" : JSON.stringify(reply.body);
    response.writeHead(reply.status, reply.headers).end(text);
  }
});
/** @type {Client} */
let client;

before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  client = new Client({ baseUrl: `http://127.0.0.1:${port}/`, apiKey: "twk_1" });
});
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests = [];
  replies = [];
});

const now = { "retry-after": "0" };
const order = /** @type {any} */ ({ platform: "sandbox", items: [] });

test("all tries of a call have one key, and two calls have two", async () => {
  const inFlight = { status: 409, body: { code: "request_in_flight" }, headers: now };
  replies = [{ status: 503, headers: now }, "hang up", inFlight, { status: 201, body: { id: "ORD1" } }];
  assert.equal((await client.createOrder(order)).id, "ORD1");
  await client.createOrder(order);
  const keys = requests.map(({ key }) => key);
  assert.equal(keys.length, 5);
  assert.equal(new Set(keys.slice(0, 4)).size, 1);
  assert.notEqual(keys[0], keys[4]);
  assert.equal(new Set(requests.map(({ body }) => body)).size, 1);

  await client.createOrder(order, { idempotencyKey: "PO-1" });
  assert.equal(requests.at(-1)?.key, "PO-1");
});

test("Retry-After is waited for, and is an error where it is too long", async () => {
  replies = [{ status: 429, headers: { "retry-after": "1" } }];
  const start = Date.now();
  await client.getMe();
  assert.ok(Date.now() - start >= 990);
  replies = [{ status: 429, body: { code: "rate_limited", retry_after: 3600 } }];
  await assert.rejects(client.getMe(), (error) => {
    assert.ok(error instanceof RateLimited);
    assert.deepEqual([error.retryAfter, error.code], [3600, "rate_limited"]);
    return true;
  });
});

test("what may have been done without a key is not sent again", async () => {
  for (const reply of /** @type {const} */ (["hang up", { status: 503, headers: now }])) {
    requests = [];
    replies = [reply];
    await assert.rejects(client.createWebhook({ url: "https://example.com" }));
    assert.equal(requests.length, 1);
  }
  replies = [{ status: 429, headers: now }]; // refused, so not done
  await client.createWebhook({ url: "https://example.com" });
  assert.equal(requests.length, 3);
});

test("it stops after so many tries", async () => {
  replies = Array(9).fill({ status: 500, headers: now });
  await assert.rejects(client.getMe({ maxRetries: 2 }), { status: 500 });
  assert.equal(requests.length, 3);
});

test("an error has everything that the problem document says", async () => {
  const errors = [{ pointer: "/url", code: "missing", message: "Is required." }];
  const problem = { code: "validation_failed", detail: "No.", request_id: "req_1", errors };
  replies = [{ status: 422, body: problem }];
  await assert.rejects(client.createWebhook(/** @type {any} */ ({})), (error) => {
    assert.ok(error instanceof InvalidRequest && error instanceof ApiError);
    const { status, code, message, requestId } = error;
    assert.deepEqual([status, code, message, requestId], [422, "validation_failed", "No.", "req_1"]);
    assert.deepEqual(error.errors, errors);
    return true;
  });
  replies = [{ status: 404, headers: { "x-request-id": "req_2" } }];
  await assert.rejects(client.getOrder("ORD1"), (error) => {
    assert.ok(error instanceof NotFound);
    assert.equal(error.requestId, "req_2");
    return true;
  });
  replies = [{ status: 302, headers: { location: "https://example.com/" } }];
  await assert.rejects(client.getMe(), { status: 302 }); // the key goes to no other server
});

test("lists are pages, or every item of them", async () => {
  const pages = [
    { items: [{ id: "1" }, { id: "2" }], has_more: true, next_cursor: "c 1" },
    { items: [{ id: "3" }], has_more: false, next_cursor: null },
  ];
  const reply = pages.map((body) => ({ status: 200, body }));
  replies = [...reply];
  const ids = [];
  const filter = /** @type {const} */ ({ status: ["paid", "shipped"], limit: 2 });
  for await (const each of client.listOrders({ ...filter, status: [...filter.status] })) ids.push(each.id);
  assert.deepEqual(ids, ["1", "2", "3"]);
  assert.deepEqual(
    requests.map(({ url }) => url),
    [
      "/v1/orders?status=paid&status=shipped&limit=2",
      "/v1/orders?status=paid&status=shipped&limit=2&cursor=c+1",
    ],
  );
  replies = [...reply];
  assert.equal((await client.listOrders()).items.length, 2);
  assert.equal(requests.length, 3);
  replies = [{ status: 200, body: { ...pages[0], next_cursor: "e1" } }, ...reply.slice(1)];
  for await (const _ of client.listEvents()) void _;
  assert.equal(requests.at(-1)?.url, "/v1/events?after=e1");
});

test("ids are escaped, and cannot leave the path", async () => {
  await client.getOrder("a/../b?c#d");
  assert.equal(requests[0]?.url, "/v1/orders/a%2F..%2Fb%3Fc%23d");
  for (const id of ["", ".", ".."]) {
    await assert.rejects(client.deleteWebhook(id), /cannot be part of a path/);
  }
  assert.equal(requests.length, 1);
});

test("a slow server, a signal and a missing server are told apart", async () => {
  replies = ["silence", "silence"];
  await assert.rejects(client.getMe({ timeout: 0.05, maxRetries: 0 }), TimedOut);
  const abort = new AbortController();
  const call = client.getMe({ signal: abort.signal });
  setTimeout(() => abort.abort(), 20);
  await assert.rejects(call, { name: "AbortError" });
  const nobody = new Client({ baseUrl: "http://127.0.0.1:1", maxRetries: 0 });
  await assert.rejects(nobody.getMe(), ConnectionFailed);
  assert.throws(() => new Client({ baseUrl: "ftp://example.com" }), /http or https/);
});

test("a body that is none is none, and a file is sent as it is", async () => {
  replies = [{ status: 204 }];
  assert.equal(await client.deleteWebhook("whk_1"), undefined);
  await client.testWebhook("whk_1");
  assert.equal(requests[1]?.body, "");
  await client.createImport(Buffer.from("a;b\n"), { file_name: "a b.csv", column: ["x:y", "z:w"] });
  assert.equal(requests[2]?.body, "a;b\n");
  assert.equal(requests[2]?.url, "/v1/imports?file_name=a+b.csv&column=x%3Ay&column=z%3Aw");
  replies = [{ status: 200, body: { csv: 1 } }];
  assert.equal(await (await client.exportOrders()).text(), '{"csv":1}');
});
