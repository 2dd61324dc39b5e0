// Declared by pages.js. Generated from the OpenAPI document by `make client`.
/**
 * @template Item
 * @typedef {object} Page
 * @property {Item[]} items
 * @property {boolean} has_more
 * @property {string | null} next_cursor
 */
/**
 * A list: `await` it for the first page, or iterate over every item of all pages. Nothing is
 * requested before.
 *
 * @template {Page<any>} P
 * @implements {PromiseLike<P>}
 * @implements {AsyncIterable<P["items"][number]>}
 */
export class Pages<P extends Page<any>> implements PromiseLike<P>, AsyncIterable<P["items"][number]> {
    /** @param {(cursor: string | undefined) => Promise<P>} load */
    constructor(load: (cursor: string | undefined) => Promise<P>);
    /**
     * @template [Result=P]
     * @template [Failure=never]
     * @param {((page: P) => Result | PromiseLike<Result>) | null} [onPage]
     * @param {((error: any) => Failure | PromiseLike<Failure>) | null} [onError]
     * @returns {Promise<Result | Failure>}
     */
    then<Result = P, Failure = never>(onPage?: ((page: P) => Result | PromiseLike<Result>) | null, onError?: ((error: any) => Failure | PromiseLike<Failure>) | null): Promise<Result | Failure>;
    /**
     * Every page, the first one included.
     *
     * @returns {AsyncGenerator<P, void, undefined>}
     */
    pages(): AsyncGenerator<P, void, undefined>;
    /** @returns {AsyncGenerator<P["items"][number], void, undefined>} */
    [Symbol.asyncIterator](): AsyncGenerator<P["items"][number], void, undefined>;
    #private;
}
export type Page<Item> = {
    items: Item[];
    has_more: boolean;
    next_cursor: string | null;
};
