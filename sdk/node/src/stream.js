// Follows the stream of events: resumes after the last event when the connection is lost.
import { setTimeout as sleep } from "node:timers/promises";

import { ApiError, ConnectionFailed, TimedOut, TradewindError } from "./errors.js";

/** @typedef {import("./openapi.js").components["schemas"]["EventBody"]} EventBody */

/**
 * An event of the stream.
 * @typedef {object} StreamedEvent
 * @property {string} id Its number in your journal. Store it with what you applied, and pass it as
 *   `lastEventId` after a restart of your own.
 * @property {string} event
 * @property {EventBody} data
 */

/**
 * How a stream is opened: with the id after which it resumes, and a signal that ends it.
 * @typedef {(lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>} OpenStream
 */

const RESUME_SECONDS = 300;
const LONGEST_BLOCK = 1024 * 1024;

/**
 * Yield events as they happen, without loss or repeat, until the caller stops or the server refuses.
 *
 * @param {OpenStream} open
 * @param {{ lastEventId?: string | undefined, signal?: AbortSignal | undefined, silence: number }}
 *   options `silence`: seconds without a sign of life after which the connection counts as lost.
 * @returns {AsyncGenerator<StreamedEvent, void, undefined>}
 */
export async function* follow(open, { lastEventId, signal, silence }) {
  let lastId = lastEventId;
  let wasOpen = false;
  let lostAt = 0;
  for (let retry = 0; ; retry += 1) {
    signal?.throwIfAborted();
    const connection = new AbortController();
    const stop = () => connection.abort(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    try {
      const response = await open(lastId, connection.signal);
      wasOpen = true;
      for await (const block of blocks(response, connection, silence)) {
        retry = 0;
        lostAt = 0;
        lastId = block.id ?? lastId;
        if (block.data !== "") {
          yield { id: lastId ?? "", event: block.event, data: JSON.parse(block.data) };
        }
      }
    } catch (error) {
      if (!wasOpen || signal?.aborted || !mayResume(error)) throw error;
      lostAt ||= Date.now();
      if (Date.now() - lostAt > RESUME_SECONDS * 1000) throw error;
    } finally {
      signal?.removeEventListener("abort", stop);
      connection.abort();
    }
    const wait = Math.min(8, 0.25 * 2 ** Math.min(retry, 6)) * (0.5 + Math.random() / 2);
    await sleep(wait * 1000, undefined, signal ? { signal } : {});
  }
}

/** @param {unknown} error */
function mayResume(error) {
  if (error instanceof ApiError) return error.status === 429 || error.status >= 500;
  return error instanceof ConnectionFailed;
}

/**
 * The complete blocks of a response. One that was cut off is left out: it is sent again, whole.
 *
 * @param {Response} response
 * @param {AbortController} connection
 * @param {number} silence
 * @returns {AsyncGenerator<{ id: string | undefined, event: string, data: string }, void, undefined>}
 */
async function* blocks(response, connection, silence) {
  const decoder = new TextDecoder();
  const expire = () =>
    connection.abort(new TimedOut(`The stream was silent for ${silence} seconds.`));
  let timer = setTimeout(expire, silence * 1000);
  let text = "";
  try {
    for await (const chunk of response.body ?? []) {
      clearTimeout(timer);
      timer = setTimeout(expire, silence * 1000);
      text += decoder.decode(chunk, { stream: true });
      const parts = text.split(/\r?\n\r?\n/);
      text = parts.pop() ?? "";
      if (text.length > LONGEST_BLOCK) throw new TradewindError("The stream sent no event.");
      for (const part of parts) yield blockOf(part);
    }
  } catch (cause) {
    if (cause instanceof TradewindError) throw cause;
    if (connection.signal.aborted) throw connection.signal.reason;
    throw new ConnectionFailed("The stream was cut off.", { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** @param {string} part */
function blockOf(part) {
  /** @type {string | undefined} */
  let id;
  let event = "message";
  /** @type {string[]} */
  const data = [];
  for (const line of part.split(/\r?\n/)) {
    const [name = "", value = ""] = line.split(/: ?(.*)/s);
    if (name === "id") id = value;
    else if (name === "event") event = value;
    else if (name === "data") data.push(value);
  }
  return { id, event, data: data.join("\n") };
}
