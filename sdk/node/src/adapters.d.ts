// Declared by adapters.js. Generated from the OpenAPI document by `make client`.
/**
 * A handler for node:http and Express: `app.post("/hook", nodeHandler(receiver))`.
 *
 * In Express, add it before `express.json()`: the signature covers the raw bytes.
 *
 * @param {Receiver} receiver
 * @returns {(request: IncomingMessage, response: ServerResponse) => Promise<void>}
 */
export function nodeHandler(receiver: Receiver): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
/**
 * A handler for Web requests: Next.js route handlers (`export const POST = webHandler(receiver)`),
 * Hono (`app.post("/hook", (c) => handler(c.req.raw))`), Deno, Bun and the like.
 *
 * @param {Receiver} receiver
 * @returns {(request: Request) => Promise<Response>}
 */
export function webHandler(receiver: Receiver): (request: Request) => Promise<Response>;
/**
 * A plugin for Fastify: `app.register(fastifyPlugin(receiver, "/hook"))`. Its body parser holds for
 * this route only.
 *
 * @param {Receiver} receiver
 * @param {string} path
 * @returns {(app: any) => Promise<void>}
 */
export function fastifyPlugin(receiver: Receiver, path: string): (app: any) => Promise<void>;
export type Receiver = import("./receiver.js").Receiver;
export type Answer = import("./receiver.js").Answer;
export type IncomingMessage = import("node:http").IncomingMessage;
export type ServerResponse = import("node:http").ServerResponse;
