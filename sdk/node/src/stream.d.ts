// Declared by stream.js. Generated from the OpenAPI document by `make client`.
/**
 * Yield events as they happen, without loss or repeat, until the caller stops or the server refuses.
 *
 * @param {OpenStream} open
 * @param {{ lastEventId?: string | undefined, signal?: AbortSignal | undefined, silence: number }}
 *   options `silence`: seconds without a sign of life after which the connection counts as lost.
 * @returns {AsyncGenerator<StreamedEvent, void, undefined>}
 */
export function follow(open: OpenStream, { lastEventId, signal, silence }: {
    lastEventId?: string | undefined;
    signal?: AbortSignal | undefined;
    silence: number;
}): AsyncGenerator<StreamedEvent, void, undefined>;
export type EventBody = import("./openapi.js").components["schemas"]["EventBody"];
/**
 * An event of the stream.
 */
export type StreamedEvent = {
    /**
     * Its number in your journal. Store it with what you applied, and pass it as
     * `lastEventId` after a restart of your own.
     */
    id: string;
    event: string;
    data: EventBody;
};
/**
 * How a stream is opened: with the id after which it resumes, and a signal that ends it.
 */
export type OpenStream = (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>;
