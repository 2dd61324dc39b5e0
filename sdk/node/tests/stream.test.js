// The stream against a server that cuts it off: every event once, in order.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import { Client, NotAuthenticated } from "../src/index.js";

/** @param {number} number */
function block(number) {
  return `id: ${number}\nevent: order.updated\ndata: {"id":"evt_${number}"}\n\n`;
}

/** @typedef {(response: import("node:http").ServerResponse) => void} Reply */

/**
 * A server that answers each connection with the next reply, and the ids that they resumed after.
 *
 * @param {Reply[]} replies
 */
async function serving(...replies) {
  /** @type {(string | undefined)[]} */
  const resumed = [];
  const server = createServer((request, response) => {
    resumed.push(request.headers["last-event-id"]?.toString());
    const reply = replies.shift();
    if (reply) reply(response);
    else response.writeHead(401).end('{"code":"credentials_missing"}');
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const client = new Client({ baseUrl: `http://127.0.0.1:${port}`, streamSilence: 0.1 });
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { client, resumed, close };
}

test("a lost stream is resumed without loss or repeat, until the server refuses", async () => {
  const { client, resumed, close } = await serving(
    (response) => {
      response.write("id: 6\n\n: a comment\n\n");
      response.write(block(7).slice(0, 9));
      setImmediate(() => {
        response.write(block(7).slice(9));
        response.end(block(8).slice(0, -1)); // cut off before its end
      });
    },
    (response) => response.write(block(8).replaceAll("\n", "\r\n")), // then silence
    (response) => response.write(block(9), () => response.destroy()),
    (response) => response.writeHead(503, { "retry-after": "0" }).end(),
    (response) => response.end(block(10)),
  );
  const seen = [];
  await assert.rejects(async () => {
    for await (const each of client.streamEvents()) seen.push([each.id, each.event, each.data.id]);
  }, NotAuthenticated);
  close();
  const expected = ["7", "8", "9", "10"].map((id) => [id, "order.updated", `evt_${id}`]);
  assert.deepEqual(seen, expected);
  assert.deepEqual(resumed, [undefined, "7", "8", "9", "9", "10"]);
});

test("it begins after the id that is passed, and ends with the loop or the signal", async () => {
  const both = (/** @type {import("node:http").ServerResponse} */ response) =>
    void response.write(block(1) + block(2));
  const { client, resumed, close } = await serving(both, both);
  for await (const each of client.streamEvents({}, { lastEventId: "0" })) {
    assert.equal(each.id, "1");
    break;
  }
  const abort = new AbortController();
  await assert.rejects(
    async () => {
      for await (const each of client.streamEvents({}, { signal: abort.signal })) {
        if (each.id === "2") abort.abort();
      }
    },
    { name: "AbortError" },
  );
  const late = client.streamEvents({}, { signal: abort.signal });
  await assert.rejects(late.next(), { name: "AbortError" });
  close();
  assert.deepEqual(resumed, ["0", undefined], "an aborted signal opens no stream");
});

test("a stream that never began is an error", async () => {
  const { client, resumed, close } = await serving();
  await assert.rejects(client.streamEvents().next(), NotAuthenticated);
  close();
  assert.equal(resumed.length, 1);
});
