// What can go wrong with a call of the API.

/** @typedef {import("./openapi.js").components["schemas"]["Problem"]} Problem */
/** @typedef {import("./openapi.js").components["schemas"]["ProblemField"]} ProblemField */

/** Every error of the client. */
export class TradewindError extends Error {
  /**
   * @param {string} message
   * @param {ErrorOptions} [options]
   */
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** There was no response: the server cannot be reached, or the connection broke. */
export class ConnectionFailed extends TradewindError {}

/** There was no response in time. */
export class TimedOut extends ConnectionFailed {}

/** The server answered with an error. `code` is stable: compare it. */
export class ApiError extends TradewindError {
  /**
   * @param {number} status
   * @param {Partial<Problem>} problem
   * @param {Headers} headers
   */
  constructor(status, problem, headers) {
    super(problem.detail ?? problem.title ?? `The server answered with status ${status}.`);
    this.status = status;
    /** The stable name of the error; empty if the response was not a problem document. */
    this.code = problem.code ?? "";
    /** The id of the request: quote it when you ask for help. */
    this.requestId = problem.request_id ?? headers.get("x-request-id") ?? "";
    /**
     * Every wrong field of the request.
     * @type {readonly ProblemField[]}
     */
    this.errors = problem.errors ?? [];
    /** Seconds to wait before another try; undefined where the server does not say. */
    this.retryAfter = retryAfterSeconds(headers) ?? problem.retry_after;
    /** The whole problem document (RFC 9457). */
    this.problem = problem;
  }
}

/** 401: the key or token is missing, wrong or expired. */
export class NotAuthenticated extends ApiError {}
/** 403: the account is locked, or not allowed to do it. */
export class NotAllowed extends ApiError {}
/** 404: there is no such thing, or it is another account's. */
export class NotFound extends ApiError {}
/** 409: the present state does not allow it. */
export class Conflict extends ApiError {}
/** 422: `errors` names every wrong field. */
export class InvalidRequest extends ApiError {}
/** 429: `retryAfter` says how many seconds to wait. */
export class RateLimited extends ApiError {}
/** 5xx: the server failed. */
export class ServerFailed extends ApiError {}

/** @type {Readonly<Record<number, typeof ApiError>>} */
const BY_STATUS = {
  401: NotAuthenticated,
  403: NotAllowed,
  404: NotFound,
  409: Conflict,
  422: InvalidRequest,
  429: RateLimited,
};

/**
 * The error that a response stands for.
 *
 * @param {Response} response
 * @returns {Promise<ApiError>}
 */
export async function errorOf(response) {
  /** @type {Partial<Problem>} */
  let problem = {};
  try {
    const body = JSON.parse(await response.text());
    if (typeof body === "object" && body !== null) problem = body;
  } catch {
    // Something between the client and the server answered.
  }
  const Class = BY_STATUS[response.status] ?? (response.status >= 500 ? ServerFailed : ApiError);
  return new Class(response.status, problem, response.headers);
}

/**
 * @param {Headers} headers
 * @returns {number | undefined}
 */
function retryAfterSeconds(headers) {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? undefined : Math.max(0, (moment - Date.now()) / 1000);
}
