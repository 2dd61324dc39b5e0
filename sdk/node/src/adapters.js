// Connects a Receiver to node:http, Express, Fastify, and whatever speaks Web requests.
import { tooLong } from "./receiver.js";

/** @typedef {import("./receiver.js").Receiver} Receiver */
/** @typedef {import("./receiver.js").Answer} Answer */
/** @typedef {import("node:http").IncomingMessage} IncomingMessage */
/** @typedef {import("node:http").ServerResponse} ServerResponse */

const PARSED_BEFORE =
  "A body parser read this request before. Put the webhook's route in front of it, or parse " +
  'this route with express.raw({ type: "*/*" }): the signature covers the raw bytes.';

/**
 * A handler for node:http and Express: `app.post("/hook", nodeHandler(receiver))`.
 *
 * In Express, add it before `express.json()`: the signature covers the raw bytes.
 *
 * @param {Receiver} receiver
 * @returns {(request: IncomingMessage, response: ServerResponse) => Promise<void>}
 */
export function nodeHandler(receiver) {
  return async (request, response) => {
    if (request.method !== "POST") {
      respond(response, { status: 405, text: "Webhooks are sent by POST." }, { allow: "POST" });
      return;
    }
    const body = await nodeBody(request, receiver.maxBytes);
    if (body === null) {
      // The rest of the body is not read, so the connection cannot be used again.
      respond(response, tooLong(receiver.maxBytes), { connection: "close" });
    } else if (body instanceof Uint8Array) {
      respond(response, await receiver.receive(request.headers, body));
    } else if (body === "parsed") {
      respond(response, { status: 500, text: PARSED_BEFORE });
    }
  };
}

/**
 * The body; null if it is too long; a word if there is none to be had.
 *
 * @param {IncomingMessage & { body?: unknown }} request
 * @param {number} most
 * @returns {Promise<Uint8Array | null | "parsed" | "gone">}
 */
async function nodeBody(request, most) {
  if (request.body instanceof Uint8Array) return request.body.length > most ? null : request.body;
  if (request.readableEnded) return "parsed";
  if (Number(request.headers["content-length"] ?? 0) > most) return null;
  return new Promise((resolve) => {
    /** @type {Buffer[]} */
    const chunks = [];
    let length = 0;
    request.on("data", (/** @type {Buffer} */ chunk) => {
      length += chunk.length;
      if (length <= most) {
        chunks.push(chunk);
      } else {
        request.pause();
        resolve(null);
      }
    });
    request.on("end", () => resolve(Buffer.concat(chunks)));
    request.on("error", () => resolve("gone")); // the sender closed the connection
    request.on("close", () => resolve("gone"));
  });
}

/**
 * @param {ServerResponse} response
 * @param {Answer} answer
 * @param {Record<string, string>} [headers]
 */
function respond(response, { status, text }, headers = {}) {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "content-length": Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/**
 * A handler for Web requests: Next.js route handlers (`export const POST = webHandler(receiver)`),
 * Hono (`app.post("/hook", (c) => handler(c.req.raw))`), Deno, Bun and the like.
 *
 * @param {Receiver} receiver
 * @returns {(request: Request) => Promise<Response>}
 */
export function webHandler(receiver) {
  return async (request) => {
    if (request.method !== "POST") {
      return new Response("Webhooks are sent by POST.", { status: 405, headers: { allow: "POST" } });
    }
    const body = await webBody(request, receiver.maxBytes);
    const { status, text } =
      body === null
        ? tooLong(receiver.maxBytes)
        : await receiver.receive(request.headers, body);
    return new Response(text, { status });
  };
}

/**
 * @param {Request} request
 * @param {number} most
 * @returns {Promise<Uint8Array | null>}
 */
async function webBody(request, most) {
  if (Number(request.headers.get("content-length") ?? 0) > most) return null;
  if (request.body === null) return new Uint8Array();
  /** @type {Uint8Array[]} */
  const chunks = [];
  let length = 0;
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks);
    length += value.length;
    if (length > most) {
      await reader.cancel();
      return null;
    }
    chunks.push(value);
  }
}

/**
 * A plugin for Fastify: `app.register(fastifyPlugin(receiver, "/hook"))`. Its body parser holds for
 * this route only.
 *
 * @param {Receiver} receiver
 * @param {string} path
 * @returns {(app: any) => Promise<void>}
 */
export function fastifyPlugin(receiver, path) {
  return async (app) => {
    const options = { parseAs: "buffer", bodyLimit: receiver.maxBytes };
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(
      "*",
      options,
      (/** @type {unknown} */ _request, /** @type {Buffer} */ body, /** @type {any} */ done) =>
        done(null, body),
    );
    app.post(path, async (/** @type {any} */ request, /** @type {any} */ reply) => {
      const body = request.body ?? new Uint8Array();
      const { status, text } = await receiver.receive(request.headers, body);
      return reply.code(status).type("text/plain; charset=utf-8").send(text);
    });
  };
}
