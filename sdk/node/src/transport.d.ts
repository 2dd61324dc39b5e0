// Declared by transport.js. Generated from the OpenAPI document by `make client`.
/**
 * A part of a path. An empty one, or dots, would be the path of something else.
 *
 * @param {string} text
 */
export function segment(text: string): string;
/** Sends requests; the operations are built on it. */
export class Transport {
    /** @param {ClientOptions} options */
    constructor(options: ClientOptions);
    /**
     * The JSON of a response; undefined where it has no body.
     *
     * @protected
     * @param {Call} call
     * @param {CallOptions} [options]
     * @returns {Promise<any>}
     */
    protected json(call: Call, options?: CallOptions): Promise<any>;
    /**
     * A response whose body is read by the caller, such as a file.
     *
     * @protected
     * @param {Call} call
     * @param {CallOptions} [options]
     * @returns {Promise<Response>}
     */
    protected raw(call: Call, options?: CallOptions): Promise<Response>;
    /**
     * A list. `cursorName` is the parameter that takes the cursor of the next page.
     *
     * @protected
     * @param {Call} call
     * @param {string} cursorName
     * @param {CallOptions} [options]
     * @returns {Pages<any>}
     */
    protected pages(call: Call, cursorName: string, options?: CallOptions): Pages<any>;
    /**
     * A stream of events, which is opened when it is iterated.
     *
     * @protected
     * @param {Call} call
     * @param {StreamOptions} [options]
     * @returns {AsyncGenerator<import("./stream.js").StreamedEvent, void, undefined>}
     */
    protected stream(call: Call, options?: StreamOptions): AsyncGenerator<import("./stream.js").StreamedEvent, void, undefined>;
    #private;
}
export type ClientOptions = {
    /**
     * Where the server is: `https://tradewind.example.com`.
     */
    baseUrl: string;
    /**
     * Sent as `x-api-key`.
     */
    apiKey?: string;
    /**
     * Sent as `Authorization: Bearer`, if there is no API key.
     */
    accessToken?: string;
    /**
     * How often a failed request is repeated; 3.
     */
    maxRetries?: number;
    /**
     * Seconds for one try, the response included; 30.
     */
    timeout?: number;
    /**
     * The longest wait, in seconds, that a server may ask for; if it
     * asks for more, the error is thrown instead. 60.
     */
    maxRetryAfter?: number;
    /**
     * Seconds after which a stream without a sign of life is opened
     * again; 45.
     */
    streamSilence?: number;
    /**
     * Another fetch than the built-in.
     */
    fetch?: typeof fetch;
};
export type CallOptions = {
    /**
     * Where the operation takes one: one is made for each call
     * unless you pass yours.
     */
    idempotencyKey?: string;
    signal?: AbortSignal;
    /**
     * Seconds for one try.
     */
    timeout?: number;
    maxRetries?: number;
    /**
     * Further headers.
     */
    headers?: Record<string, string>;
};
export type StreamOptions = CallOptions & {
    lastEventId?: string;
};
/**
 * A request as an operation describes it.
 */
export type Call = {
    method: string;
    path: string;
    query?: object | undefined;
    body?: unknown;
    /**
     * The media type of the body.
     */
    type?: string;
    /**
     * Whether the operation takes an Idempotency-Key.
     */
    keyed?: boolean;
};
import { Pages } from "./pages.js";
