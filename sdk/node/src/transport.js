// Sends the requests of the client: credentials, deadline, retries.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { ApiError, ConnectionFailed, TimedOut, TradewindError, errorOf } from "./errors.js";
import { Pages } from "./pages.js";
import { follow } from "./stream.js";

/**
 * @typedef {object} ClientOptions
 * @property {string} baseUrl Where the server is: `https://tradewind.example.com`.
 * @property {string} [apiKey] Sent as `x-api-key`.
 * @property {string} [accessToken] Sent as `Authorization: Bearer`, if there is no API key.
 * @property {number} [maxRetries] How often a failed request is repeated; 3.
 * @property {number} [timeout] Seconds for one try, the response included; 30.
 * @property {number} [maxRetryAfter] The longest wait, in seconds, that a server may ask for; if it
 *   asks for more, the error is thrown instead. 60.
 * @property {number} [streamSilence] Seconds after which a stream without a sign of life is opened
 *   again; 45.
 * @property {typeof fetch} [fetch] Another fetch than the built-in.
 */

/**
 * @typedef {object} CallOptions
 * @property {string} [idempotencyKey] Where the operation takes one: one is made for each call
 *   unless you pass yours.
 * @property {AbortSignal} [signal]
 * @property {number} [timeout] Seconds for one try.
 * @property {number} [maxRetries]
 * @property {Record<string, string>} [headers] Further headers.
 */

/** @typedef {CallOptions & { lastEventId?: string }} StreamOptions */

/**
 * A request as an operation describes it.
 * @typedef {object} Call
 * @property {string} method
 * @property {string} path
 * @property {object | undefined} [query]
 * @property {unknown} [body]
 * @property {string} [type] The media type of the body.
 * @property {boolean} [keyed] Whether the operation takes an Idempotency-Key.
 */

const FIRST_WAIT_SECONDS = 0.5;
const LONGEST_WAIT_SECONDS = 8;
// The request cannot have reached the server.
const NOT_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);
const JSON_TYPE = "application/json";

/** Sends requests; the operations are built on it. */
export class Transport {
  #base;
  #options;
  #fetch;

  /** @param {ClientOptions} options */
  constructor(options) {
    const base = new URL(options.baseUrl);
    if (!["http:", "https:"].includes(base.protocol) || base.search || base.hash) {
      throw new TypeError(`${options.baseUrl} is not the http or https address of a server.`);
    }
    this.#base = base.href.replace(/\/+$/, "");
    this.#options = options;
    this.#fetch = options.fetch ?? globalThis.fetch;
  }

  /**
   * The JSON of a response; undefined where it has no body.
   *
   * @protected
   * @param {Call} call
   * @param {CallOptions} [options]
   * @returns {Promise<any>}
   */
  async json(call, options = {}) {
    return this.#retried(call, options, async (response) => {
      const text = await response.text();
      if (text === "") return undefined;
      try {
        return JSON.parse(text);
      } catch (cause) {
        throw new TradewindError("The response is not JSON.", { cause });
      }
    });
  }

  /**
   * A response whose body is read by the caller, such as a file.
   *
   * @protected
   * @param {Call} call
   * @param {CallOptions} [options]
   * @returns {Promise<Response>}
   */
  async raw(call, options = {}) {
    return this.#retried(call, options, async (response) => response);
  }

  /**
   * A list. `cursorName` is the parameter that takes the cursor of the next page.
   *
   * @protected
   * @param {Call} call
   * @param {string} cursorName
   * @param {CallOptions} [options]
   * @returns {Pages<any>}
   */
  pages(call, cursorName, options = {}) {
    return new Pages((cursor) => {
      const further = cursor === undefined ? {} : { [cursorName]: cursor };
      return this.json({ ...call, query: { ...call.query, ...further } }, options);
    });
  }

  /**
   * A stream of events, which is opened when it is iterated.
   *
   * @protected
   * @param {Call} call
   * @param {StreamOptions} [options]
   * @returns {AsyncGenerator<import("./stream.js").StreamedEvent, void, undefined>}
   */
  stream(call, options = {}) {
    const { lastEventId, signal } = options;
    const silence = this.#options.streamSilence ?? 45;
    const open = (/** @type {string | undefined} */ id, /** @type {AbortSignal} */ connection) => {
      const headers = { ...options.headers, ...(id === undefined ? {} : { "last-event-id": id }) };
      return this.raw(call, { ...options, headers, signal: connection });
    };
    return follow(open, { lastEventId, signal, silence });
  }

  /**
   * @template Result
   * @param {Call} call
   * @param {CallOptions} options
   * @param {(response: Response) => Promise<Result>} read
   * @returns {Promise<Result>}
   */
  async #retried(call, options, read) {
    const retries = options.maxRetries ?? this.#options.maxRetries ?? 3;
    // One key for all tries: the server acts once, however often it gets the request.
    const headers = this.#headers(call, options);
    for (let retry = 0; ; retry += 1) {
      try {
        return await this.#once(call, headers, options, read);
      } catch (error) {
        const wait = this.#wait(error, retry, "idempotency-key" in headers || call.method === "GET");
        if (wait === null || retry >= retries || options.signal?.aborted) throw error;
        await sleep(wait * 1000, undefined, options.signal ? { signal: options.signal } : {});
      }
    }
  }

  /**
   * How many seconds to wait before the next try; null: it must not be repeated.
   *
   * A request that may have been executed is repeated only if that does no harm.
   *
   * @param {unknown} error
   * @param {number} retry
   * @param {boolean} isRepeatable
   * @returns {number | null}
   */
  #wait(error, retry, isRepeatable) {
    const longest = Math.min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** retry);
    const wait = longest * (0.5 + Math.random() / 2);
    if (error instanceof ApiError) {
      const wasRefused = error.status === 429;
      const mayPass = error.status === 408 || error.status >= 500;
      const isRunning = error.code === "request_in_flight";
      if (!wasRefused && !(isRepeatable && (mayPass || isRunning))) return null;
      if ((error.retryAfter ?? 0) > (this.#options.maxRetryAfter ?? 60)) return null;
      return error.retryAfter ?? wait;
    }
    if (!(error instanceof ConnectionFailed)) return null;
    return isRepeatable || wasNotSent(error) ? wait : null;
  }

  /**
   * @template Result
   * @param {Call} call
   * @param {Record<string, string>} headers
   * @param {CallOptions} options
   * @param {(response: Response) => Promise<Result>} read
   * @returns {Promise<Result>}
   */
  async #once(call, headers, options, read) {
    const seconds = options.timeout ?? this.#options.timeout ?? 30;
    const controller = new AbortController();
    const { signal } = options;
    const stop = () => controller.abort(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
    const expire = () =>
      controller.abort(new TimedOut(`There was no response within ${seconds} seconds.`));
    const timer = setTimeout(expire, seconds * 1000);
    try {
      const response = await this.#fetch(this.#base + call.path + search(call.query), {
        method: call.method,
        headers,
        // A redirect could carry the key to another server.
        redirect: "manual",
        signal: controller.signal,
        ...(call.body === undefined ? {} : { body: encoded(call) }),
      });
      if (!response.ok) throw await errorOf(response);
      return await read(response);
    } catch (cause) {
      if (controller.signal.aborted) throw controller.signal.reason;
      if (cause instanceof TradewindError) throw cause;
      throw new ConnectionFailed(`${call.method} ${call.path} got no response.`, { cause });
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * @param {Call} call
   * @param {CallOptions} options
   * @returns {Record<string, string>}
   */
  #headers(call, options) {
    const { apiKey, accessToken } = this.#options;
    /** @type {Record<string, string>} */
    const headers = { accept: `${JSON_TYPE}, */*;q=0.5` };
    if (apiKey) headers["x-api-key"] = apiKey;
    else if (accessToken) headers.authorization = `Bearer ${accessToken}`;
    if (call.body !== undefined) headers["content-type"] = call.type ?? JSON_TYPE;
    if (call.keyed) headers["idempotency-key"] = options.idempotencyKey ?? randomUUID();
    for (const [name, value] of Object.entries(options.headers ?? {})) {
      headers[name.toLowerCase()] = value;
    }
    return headers;
  }
}

/**
 * A part of a path. An empty one, or dots, would be the path of something else.
 *
 * @param {string} text
 */
export function segment(text) {
  if (typeof text !== "string" || /^\.{0,2}$/.test(text)) {
    throw new TypeError(`${JSON.stringify(text)} cannot be part of a path.`);
  }
  return encodeURIComponent(text);
}

/** @param {Call} call */
function encoded(call) {
  return call.type === undefined
    ? JSON.stringify(call.body)
    : /** @type {Uint8Array<ArrayBuffer>} */ (call.body);
}

/** @param {object | undefined} query */
function search(query) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null) {
        parameters.append(name, each instanceof Date ? each.toISOString() : String(each));
      }
    }
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

/** @param {ConnectionFailed} error */
function wasNotSent(error) {
  const cause = /** @type {{ code?: string, cause?: { code?: string } } | undefined} */ (error.cause);
  return NOT_SENT.has(cause?.cause?.code ?? cause?.code ?? "");
}
