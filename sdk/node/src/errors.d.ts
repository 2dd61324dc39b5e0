// Declared by errors.js. Generated from the OpenAPI document by `make client`.
/**
 * The error that a response stands for.
 *
 * @param {Response} response
 * @returns {Promise<ApiError>}
 */
export function errorOf(response: Response): Promise<ApiError>;
/** @typedef {import("./openapi.js").components["schemas"]["Problem"]} Problem */
/** @typedef {import("./openapi.js").components["schemas"]["ProblemField"]} ProblemField */
/** Every error of the client. */
export class TradewindError extends Error {
    /**
     * @param {string} message
     * @param {ErrorOptions} [options]
     */
    constructor(message: string, options?: ErrorOptions);
}
/** There was no response: the server cannot be reached, or the connection broke. */
export class ConnectionFailed extends TradewindError {
}
/** There was no response in time. */
export class TimedOut extends ConnectionFailed {
}
/** The server answered with an error. `code` is stable: compare it. */
export class ApiError extends TradewindError {
    /**
     * @param {number} status
     * @param {Partial<Problem>} problem
     * @param {Headers} headers
     */
    constructor(status: number, problem: Partial<Problem>, headers: Headers);
    status: number;
    /** The stable name of the error; empty if the response was not a problem document. */
    code: string;
    /** The id of the request: quote it when you ask for help. */
    requestId: string;
    /**
     * Every wrong field of the request.
     * @type {readonly ProblemField[]}
     */
    errors: readonly ProblemField[];
    /** Seconds to wait before another try; undefined where the server does not say. */
    retryAfter: number | undefined;
    /** The whole problem document (RFC 9457). */
    problem: Partial<{
        type: string;
        title: string;
        status: number;
        detail: string;
        code: string;
        request_id: string;
        retry_after?: number;
        errors?: import("./openapi.js").components["schemas"]["ProblemField"][];
        current?: string;
        allowed?: string[];
        upstream?: import("./openapi.js").components["schemas"]["ProblemUpstream"];
    }>;
}
/** 401: the key or token is missing, wrong or expired. */
export class NotAuthenticated extends ApiError {
}
/** 403: the account is locked, or not allowed to do it. */
export class NotAllowed extends ApiError {
}
/** 404: there is no such thing, or it is another account's. */
export class NotFound extends ApiError {
}
/** 409: the present state does not allow it. */
export class Conflict extends ApiError {
}
/** 422: `errors` names every wrong field. */
export class InvalidRequest extends ApiError {
}
/** 429: `retryAfter` says how many seconds to wait. */
export class RateLimited extends ApiError {
}
/** 5xx: the server failed. */
export class ServerFailed extends ApiError {
}
export type Problem = import("./openapi.js").components["schemas"]["Problem"];
export type ProblemField = import("./openapi.js").components["schemas"]["ProblemField"];
