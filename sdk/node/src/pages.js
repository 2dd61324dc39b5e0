// A list that is read page by page.

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
export class Pages {
  #load;
  /** @type {Promise<P> | undefined} */
  #first;

  /** @param {(cursor: string | undefined) => Promise<P>} load */
  constructor(load) {
    this.#load = load;
  }

  /**
   * @template [Result=P]
   * @template [Failure=never]
   * @param {((page: P) => Result | PromiseLike<Result>) | null} [onPage]
   * @param {((error: any) => Failure | PromiseLike<Failure>) | null} [onError]
   * @returns {Promise<Result | Failure>}
   */
  then(onPage, onError) {
    this.#first ??= this.#load(undefined);
    return this.#first.then(onPage, onError);
  }

  /**
   * Every page, the first one included.
   *
   * @returns {AsyncGenerator<P, void, undefined>}
   */
  async *pages() {
    let page = await this.then((first) => first);
    yield page;
    while (page.has_more && page.next_cursor !== null) {
      page = await this.#load(page.next_cursor);
      yield page;
    }
  }

  /** @returns {AsyncGenerator<P["items"][number], void, undefined>} */
  async *[Symbol.asyncIterator]() {
    for await (const page of this.pages()) yield* page.items;
  }
}
