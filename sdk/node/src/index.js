// What the package exports.
import { Operations } from "./operations.js";

export { fastifyPlugin, nodeHandler, webHandler } from "./adapters.js";
export { EventInProgress, MemoryOrdering, MemoryDeduplicator } from "./dedupe.js";
export {
  ApiError,
  Conflict,
  ConnectionFailed,
  InvalidRequest,
  NotAllowed,
  NotAuthenticated,
  NotFound,
  RateLimited,
  ServerFailed,
  TimedOut,
  TradewindError,
} from "./errors.js";
export { InvalidEvent, isStale, parseEvent } from "./events.js";
export { Pages } from "./pages.js";
export { Receiver } from "./receiver.js";
export { VerificationError, TOLERANCE_SECONDS, sign, verify } from "./verify.js";

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
export class Client extends Operations {}
