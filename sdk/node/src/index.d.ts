// Declared by index.js. Generated from the OpenAPI document by `make client`.
export { Pages } from "./pages.js";
export { Receiver } from "./receiver.js";
/** @typedef {import("./openapi.js").components["schemas"]} Schemas */
/** @typedef {import("./events.js").WebhookEvent} WebhookEvent */
/** @typedef {import("./events.js").EventOrder} EventOrder */
/** @typedef {import("./verify.js").VerificationFailure} VerificationFailure */
/** @typedef {import("./verify.js").Delivery} Delivery */
/** @typedef {import("./receiver.js").ReceiverOptions} ReceiverOptions */
/** @typedef {import("./receiver.js").Answer} Answer */
/** @typedef {import("./transport.js").ClientOptions} ClientOptions */
/** @typedef {import("./transport.js").CallOptions} CallOptions */
/** @typedef {import("./stream.js").StreamedEvent} StreamedEvent */
/** A client of the API: a method for every operation, named after its `operationId`. */
export class Client extends Operations {
}
export type Schemas = import("./openapi.js").components["schemas"];
export type WebhookEvent = import("./events.js").WebhookEvent;
export type EventOrder = import("./events.js").EventOrder;
export type VerificationFailure = import("./verify.js").VerificationFailure;
export type Delivery = import("./verify.js").Delivery;
export type ReceiverOptions = import("./receiver.js").ReceiverOptions;
export type Answer = import("./receiver.js").Answer;
export type ClientOptions = import("./transport.js").ClientOptions;
export type CallOptions = import("./transport.js").CallOptions;
export type StreamedEvent = import("./stream.js").StreamedEvent;
import { Operations } from "./operations.js";
export { fastifyPlugin, nodeHandler, webHandler } from "./adapters.js";
export { EventInProgress, MemoryOrdering, MemoryDeduplicator } from "./dedupe.js";
export { ApiError, Conflict, ConnectionFailed, InvalidRequest, NotAllowed, NotAuthenticated, NotFound, RateLimited, ServerFailed, TimedOut, TradewindError } from "./errors.js";
export { InvalidEvent, isStale, parseEvent } from "./events.js";
export { VerificationError, TOLERANCE_SECONDS, sign, verify } from "./verify.js";
