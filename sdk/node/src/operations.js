// A method for every operation of the API. Generated from the OpenAPI document by `make client`.
import { Transport, segment } from "./transport.js";

/** @typedef {import("./openapi.js").components["schemas"]} Schemas */
/** @typedef {import("./openapi.js").operations} OperationTypes */
/** @typedef {import("./transport.js").CallOptions} CallOptions */
/** @typedef {import("./transport.js").StreamOptions} StreamOptions */

/** Every operation; the name of a method is the `operationId` in camel case. */
export class Operations extends Transport {
  /**
   * Log in with e-mail and password.
   *
   * The access token is valid for 90 days: cache it, and send it as `Authorization: Bearer …`.
   * Credentials sent along are ignored. 30 logins a minute are tried from one address (429); ten
   * failures within 15 minutes stop logins for that e-mail for 15 minutes (403).
   *
   * `POST /v1/auth/login`
   *
   * @param {Schemas["LoginInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Tokens"]>}
   */
  async login(body, options) {
    const call = { method: "POST", path: "/v1/auth/login", body };
    return this.json(call, options);
  }

  /**
   * Exchange a refresh token for a new pair.
   *
   * A refresh token works once. The one before it gets the same new pair for another 60 seconds, in
   * case the response was lost; any older one ends the whole session.
   *
   * `POST /v1/auth/refresh`
   *
   * @param {Schemas["RefreshInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Tokens"]>}
   */
  async refresh(body, options) {
    const call = { method: "POST", path: "/v1/auth/refresh", body };
    return this.json(call, options);
  }

  /**
   * End the session of the access token that you send.
   *
   * From this response on no process accepts its tokens. An API key has no session (422).
   *
   * Scope: any.
   *
   * `POST /v1/auth/logout`
   *
   * @param {CallOptions} [options]
   * @returns {Promise<void>}
   */
  async logout(options) {
    const call = { method: "POST", path: "/v1/auth/logout" };
    return this.json(call, options);
  }

  /**
   * The account behind the credentials: roles, plan, and what is left of its rate budget.
   *
   * Scope: any.
   *
   * `GET /v1/me`
   *
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Me"]>}
   */
  async getMe(options) {
    const call = { method: "GET", path: "/v1/me" };
    return this.json(call, options);
  }

  /**
   * Change your password.
   *
   * Every session of the account ends, this one included: log in again with the new password. API
   * keys continue to work. Wrong passwords count as failed logins (403 after ten).
   *
   * Not for API keys with scopes.
   *
   * `POST /v1/me/password`
   *
   * @param {Schemas["PasswordInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<void>}
   */
  async changePassword(body, options) {
    const call = { method: "POST", path: "/v1/me/password", body };
    return this.json(call, options);
  }

  /**
   * List your API keys, newest first, the revoked ones included.
   *
   * Not for API keys with scopes.
   *
   * `GET /v1/api-keys`
   *
   * @param {OperationTypes["list_api_keys"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {import("./pages.js").Pages<Schemas["KeyPage"]>}
   */
  listApiKeys(query, options) {
    const call = { method: "GET", path: "/v1/api-keys", query };
    return this.pages(call, "cursor", options);
  }

  /**
   * Create an API key. Only this response contains the key itself.
   *
   * A key can do what its account can, unless it is restricted: to `scopes`, to the time before
   * `expires_at`, or to the networks in `allowed_cidrs`. What a key is restricted to never changes.
   *
   * Not for API keys with scopes.
   *
   * `POST /v1/api-keys`
   *
   * @param {Schemas["NewKeyInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["NewKey"]>}
   */
  async createApiKey(body, options) {
    const call = { method: "POST", path: "/v1/api-keys", body };
    return this.json(call, options);
  }

  /**
   * Revoke an API key: from this response on, no process accepts it.
   *
   * Revoking a revoked key changes nothing and succeeds.
   *
   * Not for API keys with scopes.
   *
   * `DELETE /v1/api-keys/{id}`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<void>}
   */
  async revokeApiKey(id, options) {
    const call = { method: "DELETE", path: `/v1/api-keys/${segment(id)}` };
    return this.json(call, options);
  }

  /**
   * List the marketplaces, their capabilities, and whether each is connected here.
   *
   * Scope: `read`.
   *
   * `GET /v1/platforms`
   *
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["PlatformPage"]>}
   */
  async listPlatforms(options) {
    const call = { method: "GET", path: "/v1/platforms" };
    return this.json(call, options);
  }

  /**
   * Search products on a marketplace, in any language.
   *
   * The same search within a minute may be answered from a cache; `Age` tells how old it is.
   *
   * Scope: `read`.
   *
   * `POST /v1/products/search`
   *
   * @param {Schemas["SearchInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Search"]>}
   */
  async searchProducts(body, options) {
    const call = { method: "POST", path: "/v1/products/search", body };
    return this.json(call, options);
  }

  /**
   * Search products that look like a picture.
   *
   * The marketplace needs the capability `image_search`. The picture is passed on to it and not
   * stored here; it is recognised by its content: JPEG, PNG or WebP, at most 3 MiB, 16 to 10,000
   * pixels a side and 50 megapixels. The body may have 4.25 MiB.
   *
   * For the next page, another order or other prices, send the `image_id` of the response instead
   * of the picture. Only your account can use it, at the same marketplace. How long the marketplace
   * keeps the picture is up to it; afterwards the code of the error at `/image_id` is `expired`.
   * Taobao does not sort by sales here.
   *
   * Scope: `read`.
   *
   * `POST /v1/products/image-search`
   *
   * @param {Schemas["ImageSearchInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["ImageSearch"]>}
   */
  async searchProductsByImage(body, options) {
    const call = { method: "POST", path: "/v1/products/image-search", body };
    return this.json(call, options);
  }

  /**
   * Find the product that a link, a shared text or a product ID names.
   *
   * Links of 1688, Taobao and Tmall are known, desktop and mobile ones. Nothing is fetched: the
   * product need not exist, and a short link (`m.tb.cn`, `qr.1688.com`) gets the error
   * `short_link`, since it does not contain the ID. Other codes of errors at `/text` are
   * `not_a_product` (a link of a marketplace to something else) and `no_product`.
   *
   * An ID without `platform` may be of several marketplaces: they are listed as `candidates`.
   *
   * Scope: `read`.
   *
   * `POST /v1/products/resolve`
   *
   * @param {Schemas["ResolveInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Resolve"]>}
   */
  async resolve(body, options) {
    const call = { method: "POST", path: "/v1/products/resolve", body };
    return this.json(call, options);
  }

  /**
   * Everything about a product: variants with stock, price ranges, pictures, shipping.
   *
   * Scope: `read`.
   *
   * `GET /v1/products/{platform}/{id}`
   *
   * @param {string} platform
   * @param {string} id
   * @param {OperationTypes["get_product"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Product"]>}
   */
  async getProduct(platform, id, query, options) {
    const call = { method: "GET", path: `/v1/products/${segment(platform)}/${segment(id)}`, query };
    return this.json(call, options);
  }

  /**
   * List your addresses, newest first.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/addresses`
   *
   * @param {OperationTypes["list_addresses"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {import("./pages.js").Pages<Schemas["SavedAddressPage"]>}
   */
  listAddresses(query, options) {
    const call = { method: "GET", path: "/v1/addresses", query };
    return this.pages(call, "cursor", options);
  }

  /**
   * Save an address.
   *
   * Province, city and district are checked against the current divisions of China and saved by
   * their full names: 浙江 becomes 浙江省, and the city of 北京 is 北京市. The first address of an account
   * becomes its default. `is_default` makes this one the default instead of the present one.
   *
   * Requires the role `buyer`. Scope: `order`.
   *
   * `POST /v1/addresses`
   *
   * @param {Schemas["SavedAddressInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["SavedAddress"]>}
   */
  async createAddress(body, options) {
    const call = { method: "POST", path: "/v1/addresses", body };
    return this.json(call, options);
  }

  /**
   * Take a pasted address apart. Nothing is stored.
   *
   * It reads labelled lines, or one line with spaces or commas, in any order, as people copy them
   * from a marketplace or an order note. Province, city and district get their full names.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `POST /v1/addresses/parse`
   *
   * @param {Schemas["PastedAddressInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["PastedAddress"]>}
   */
  async parseAddress(body, options) {
    const call = { method: "POST", path: "/v1/addresses/parse", body };
    return this.json(call, options);
  }

  /**
   * Look at an address.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/addresses/{id}`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["SavedAddress"]>}
   */
  async getSavedAddress(id, options) {
    const call = { method: "GET", path: `/v1/addresses/${segment(id)}` };
    return this.json(call, options);
  }

  /**
   * Change an address. Orders that were placed keep the address they were placed with.
   *
   * Requires the role `buyer`. Scope: `order`.
   *
   * `PATCH /v1/addresses/{id}`
   *
   * @param {string} id
   * @param {Schemas["SavedAddressPatch"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["SavedAddress"]>}
   */
  async updateAddress(id, body, options) {
    const call = { method: "PATCH", path: `/v1/addresses/${segment(id)}`, body };
    return this.json(call, options);
  }

  /**
   * Delete an address. If it was the default, the newest of the others becomes the default.
   *
   * Requires the role `buyer`. Scope: `order`.
   *
   * `DELETE /v1/addresses/{id}`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<void>}
   */
  async deleteAddress(id, options) {
    const call = { method: "DELETE", path: `/v1/addresses/${segment(id)}` };
    return this.json(call, options);
  }

  /**
   * Look at your cart: at most 200 lines, one for each product and variant.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/cart`
   *
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Cart"]>}
   */
  async getCart(options) {
    const call = { method: "GET", path: "/v1/cart" };
    return this.json(call, options);
  }

  /**
   * Add a product to the cart.
   *
   * The platform is asked for it now, and what it shows is kept with the line. What is in the cart
   * already gets the quantity on top.
   *
   * Requires the role `buyer`. Scope: `order`.
   *
   * `POST /v1/cart/items`
   *
   * @param {Schemas["CartItemInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["CartItem"]>}
   */
  async addCartItem(body, options) {
    const call = { method: "POST", path: "/v1/cart/items", body, keyed: true };
    return this.json(call, options);
  }

  /**
   * Change the quantity of a line.
   *
   * Requires the role `buyer`. Scope: `order`.
   *
   * `PATCH /v1/cart/items/{id}`
   *
   * @param {string} id
   * @param {Schemas["CartItemPatch"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["CartItem"]>}
   */
  async updateCartItem(id, body, options) {
    const call = { method: "PATCH", path: `/v1/cart/items/${segment(id)}`, body };
    return this.json(call, options);
  }

  /**
   * Remove a line from the cart.
   *
   * Requires the role `buyer`. Scope: `order`.
   *
   * `DELETE /v1/cart/items/{id}`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<void>}
   */
  async removeCartItem(id, options) {
    const call = { method: "DELETE", path: `/v1/cart/items/${segment(id)}` };
    return this.json(call, options);
  }

  /**
   * Say what the cart, or some of its lines, would cost now; nothing is ordered.
   *
   * Lines are grouped as they would be ordered: by platform and, where the platform takes one
   * seller per order, by seller. Each group has its preview or its error.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `POST /v1/cart/preview`
   *
   * @param {Schemas["CartSelectionInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["CartPreview"]>}
   */
  async previewCart(body, options) {
    const call = { method: "POST", path: "/v1/cart/preview", body };
    return this.json(call, options);
  }

  /**
   * Order the cart, or some of its lines: one order for each group.
   *
   * Groups are those of the preview. The response has the order or the error of each; one that
   * fails does not undo the others. Lines that are ordered leave the cart.
   *
   * The Idempotency-Key covers the whole request. If something is missing (`complete` is false), a
   * repeat with the same key orders what is missing, and nothing twice.
   *
   * Requires the role `buyer`. Scope: `order`.
   *
   * `POST /v1/cart/order`
   *
   * @param {Schemas["CartSelectionInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["CartOrder"]>}
   */
  async orderCart(body, options) {
    const call = { method: "POST", path: "/v1/cart/order", body, keyed: true };
    return this.json(call, options);
  }

  /**
   * List your subscriptions, newest first. Secrets are not shown.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/webhooks`
   *
   * @param {OperationTypes["list_webhooks"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {import("./pages.js").Pages<Schemas["SubscriptionPage"]>}
   */
  listWebhooks(query, options) {
    const call = { method: "GET", path: "/v1/webhooks", query };
    return this.pages(call, "cursor", options);
  }

  /**
   * Subscribe a URL to events. The answer holds the signing secret, this once.
   *
   * Requires the role `buyer`. Scope: `webhooks`.
   *
   * `POST /v1/webhooks`
   *
   * @param {Schemas["SubscriptionInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["NewSubscription"]>}
   */
  async createWebhook(body, options) {
    const call = { method: "POST", path: "/v1/webhooks", body };
    return this.json(call, options);
  }

  /**
   * Look at a subscription.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/webhooks/{id}`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Subscription"]>}
   */
  async getWebhook(id, options) {
    const call = { method: "GET", path: `/v1/webhooks/${segment(id)}` };
    return this.json(call, options);
  }

  /**
   * Change a subscription.
   *
   * Every attempt that is made after the answer, a retry included, uses the new values. Switching
   * it off cancels what is pending; switching it on again forgets its failures. `headers` replaces
   * all headers; a value of asterisks, as you read it, keeps the stored one.
   *
   * Requires the role `buyer`. Scope: `webhooks`.
   *
   * `PATCH /v1/webhooks/{id}`
   *
   * @param {string} id
   * @param {Schemas["SubscriptionPatch"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Subscription"]>}
   */
  async updateWebhook(id, body, options) {
    const call = { method: "PATCH", path: `/v1/webhooks/${segment(id)}`, body };
    return this.json(call, options);
  }

  /**
   * Delete a subscription. What is pending for it is cancelled.
   *
   * Requires the role `buyer`. Scope: `webhooks`.
   *
   * `DELETE /v1/webhooks/{id}`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<void>}
   */
  async deleteWebhook(id, options) {
    const call = { method: "DELETE", path: `/v1/webhooks/${segment(id)}` };
    return this.json(call, options);
  }

  /**
   * Issue a new secret. From the answer on nothing is signed with the old one.
   *
   * To rotate without a gap, add a second subscription with the same URL, accept both secrets, and
   * delete the first.
   *
   * Requires the role `buyer`. Not for API keys with scopes.
   *
   * `POST /v1/webhooks/{id}/rotate-secret`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Rotated"]>}
   */
  async rotateWebhookSecret(id, options) {
    const call = { method: "POST", path: `/v1/webhooks/${segment(id)}/rotate-secret` };
    return this.json(call, options);
  }

  /**
   * List attempts, newest first.
   *
   * They are kept for 30 days unless the operator set another time.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/webhooks/{id}/deliveries`
   *
   * @param {string} id
   * @param {OperationTypes["list_deliveries"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {import("./pages.js").Pages<Schemas["DeliveryPage"]>}
   */
  listDeliveries(id, query, options) {
    const call = { method: "GET", path: `/v1/webhooks/${segment(id)}/deliveries`, query };
    return this.pages(call, "cursor", options);
  }

  /**
   * Look at one attempt: what was sent, byte for byte, and what came back.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/webhooks/{id}/deliveries/{dlv}`
   *
   * @param {string} id
   * @param {string} dlv
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["DeliveryDetail"]>}
   */
  async getDelivery(id, dlv, options) {
    const call = { method: "GET", path: `/v1/webhooks/${segment(id)}/deliveries/${segment(dlv)}` };
    return this.json(call, options);
  }

  /**
   * Deliver the same event once more: the same bytes, with three attempts of its own.
   *
   * Requires the role `buyer`. Scope: `webhooks`.
   *
   * `POST /v1/webhooks/{id}/deliveries/{dlv}/redeliver`
   *
   * @param {string} id
   * @param {string} dlv
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Pending"]>}
   */
  async redeliver(id, dlv, options) {
    const call = { method: "POST", path: `/v1/webhooks/${segment(id)}/deliveries/${segment(dlv)}/redeliver` };
    return this.json(call, options);
  }

  /**
   * List deliveries that are not over, by when they are due.
   *
   * Deliveries that were cancelled because the subscription was switched off, or no longer lists
   * the event, are left out as soon as that change was answered.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/webhooks/{id}/pending`
   *
   * @param {string} id
   * @param {OperationTypes["list_pending"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {import("./pages.js").Pages<Schemas["PendingPage"]>}
   */
  listPending(id, query, options) {
    const call = { method: "GET", path: `/v1/webhooks/${segment(id)}/pending`, query };
    return this.pages(call, "cursor", options);
  }

  /**
   * Replay what was missed: failed, cancelled, and older than the subscription too.
   *
   * It is paced so that live events do not wait behind it. `dry_run` only counts. Counting stops at
   * 10,000: `count_is_exact` is false then, and a replay delivers the rest too.
   *
   * Requires the role `buyer`. Scope: `webhooks`.
   *
   * `POST /v1/webhooks/{id}/recover`
   *
   * @param {string} id
   * @param {Schemas["RecoverInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Recover"]>}
   */
  async recoverWebhook(id, body, options) {
    const call = { method: "POST", path: `/v1/webhooks/${segment(id)}/recover`, body };
    return this.json(call, options);
  }

  /**
   * List the replays of a subscription, newest first, with how far each has come.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/webhooks/{id}/recover`
   *
   * @param {string} id
   * @param {OperationTypes["list_recoveries"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {import("./pages.js").Pages<Schemas["JobPage"]>}
   */
  listRecoveries(id, query, options) {
    const call = { method: "GET", path: `/v1/webhooks/${segment(id)}/recover`, query };
    return this.pages(call, "cursor", options);
  }

  /**
   * See how far a replay has come.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/webhooks/{id}/recover/{job}`
   *
   * @param {string} id
   * @param {string} job
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Job"]>}
   */
  async getRecovery(id, job, options) {
    const call = { method: "GET", path: `/v1/webhooks/${segment(id)}/recover/${segment(job)}` };
    return this.json(call, options);
  }

  /**
   * Cancel a replay. What it has queued and not yet sent is not sent.
   *
   * Requires the role `buyer`. Scope: `webhooks`.
   *
   * `DELETE /v1/webhooks/{id}/recover/{job}`
   *
   * @param {string} id
   * @param {string} job
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Job"]>}
   */
  async cancelRecovery(id, job, options) {
    const call = { method: "DELETE", path: `/v1/webhooks/${segment(id)}/recover/${segment(job)}` };
    return this.json(call, options);
  }

  /**
   * See how an endpoint did in the last 24 hours.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/webhooks/{id}/health`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["WebhookHealth"]>}
   */
  async getWebhookHealth(id, options) {
    const call = { method: "GET", path: `/v1/webhooks/${segment(id)}/health` };
    return this.json(call, options);
  }

  /**
   * Say why an event was, or was not, delivered to this subscription.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/webhooks/{id}/explain`
   *
   * @param {string} id
   * @param {OperationTypes["explain_delivery"]["parameters"]["query"]} query
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Explain"]>}
   */
  async explainDelivery(id, query, options) {
    const call = { method: "GET", path: `/v1/webhooks/${segment(id)}/explain`, query };
    return this.json(call, options);
  }

  /**
   * Send a test delivery at once, and say step by step how far it came.
   *
   * It is sent to a subscription that is switched off as well. The answer is 200 even if the
   * endpoint failed. Each subscription can be tested 10 times a minute.
   *
   * Requires the role `buyer`. Scope: `webhooks`.
   *
   * `POST /v1/webhooks/{id}/test`
   *
   * @param {string} id
   * @param {Schemas["TestInput"]} [body]
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Test"]>}
   */
  async testWebhook(id, body, options) {
    const call = { method: "POST", path: `/v1/webhooks/${segment(id)}/test`, body };
    return this.json(call, options);
  }

  /**
   * Say what an order would cost now, seller by seller, and what cannot be bought.
   *
   * Nothing is ordered. Items of several sellers, on a platform that takes one seller an order, are
   * 422 `several_sellers` with the split, as they would be when ordered.
   *
   * Send `total_amount_cny` as `expected_total_cny` with the order to be safe from a price that
   * changes in between. Provinces, cities and districts that are not known are `warnings`: such an
   * order can be placed, and the platform decides.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `POST /v1/orders/preview`
   *
   * @param {Schemas["OrderInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Preview"]>}
   */
  async previewOrder(body, options) {
    const call = { method: "POST", path: "/v1/orders/preview", body };
    return this.json(call, options);
  }

  /**
   * Place an order.
   *
   * It is previewed first; an order that is rejected for good is not stored. The response comes
   * within seconds: with the platform's `order_id` if it has one by then, else with `status:
   * creating`, and an `order.updated` event follows. A later rejection becomes `create_failed`.
   * However often this request is repeated with the same Idempotency-Key, and whatever breaks, one
   * order is made.
   *
   * Requires the role `buyer`. Scope: `order`.
   *
   * `POST /v1/orders`
   *
   * @param {Schemas["OrderInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Order"]>}
   */
  async createOrder(body, options) {
    const call = { method: "POST", path: "/v1/orders", body, keyed: true };
    return this.json(call, options);
  }

  /**
   * List your orders as of their last sync, newest first.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/orders`
   *
   * @param {OperationTypes["list_orders"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {import("./pages.js").Pages<Schemas["OrderPage"]>}
   */
  listOrders(query, options) {
    const call = { method: "GET", path: "/v1/orders", query };
    return this.pages(call, "cursor", options);
  }

  /**
   * Compare up to 1,000 orders with what you have, by `updated_at`.
   *
   * Returns those that differ, as they are now: a nightly reconciliation in one call.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `POST /v1/orders/diff`
   *
   * @param {Schemas["DiffInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Diff"]>}
   */
  async diffOrders(body, options) {
    const call = { method: "POST", path: "/v1/orders/diff", body };
    return this.json(call, options);
  }

  /**
   * Look at an order, refreshed from its platform first.
   *
   * That takes three seconds at the most, however many ask at once. What it finds is journaled
   * before you get the answer. If the platform fails, you get what we last heard, with `stale:
   * true`.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/orders/{id}`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Order"]>}
   */
  async getOrder(id, options) {
    const call = { method: "GET", path: `/v1/orders/${segment(id)}` };
    return this.json(call, options);
  }

  /**
   * Cancel an order that is not paid.
   *
   * `status` becomes `cancelled` when the platform says so. After payment it is too late: request a
   * refund instead.
   *
   * Requires the role `buyer`. Scope: `order`.
   *
   * `POST /v1/orders/{id}/cancel`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Order"]>}
   */
  async cancelOrder(id, options) {
    const call = { method: "POST", path: `/v1/orders/${segment(id)}/cancel`, keyed: true };
    return this.json(call, options);
  }

  /**
   * Everything that happened to an order, newest first: what changed, why, and who asked.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/orders/{id}/timeline`
   *
   * @param {string} id
   * @param {OperationTypes["get_order_timeline"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {import("./pages.js").Pages<Schemas["ChangePage"]>}
   */
  getOrderTimeline(id, query, options) {
    const call = { method: "GET", path: `/v1/orders/${segment(id)}/timeline`, query };
    return this.pages(call, "cursor", options);
  }

  /**
   * Send a file with many orders. Nothing is ordered yet.
   *
   * The first row names the columns: `product_id`, `sku_id`, `quantity`, the fields of the address
   * or `address` with the id or label of a saved one, and if you like `platform`, `external_id`,
   * `remark` and `order_ref`; many other spellings are understood. Rows with the same `order_ref`
   * are one order, and only one of them needs the address; any other row is an order of its own. A
   * file without any address is shipped to the default address.
   *
   * Each row is checked at once, and then each order is previewed with its platform in the
   * background: `GET /v1/imports/{id}` shows errors and totals, until `status` is `ready`.
   *
   * Requires the role `buyer`. Scope: `order`.
   *
   * `POST /v1/imports`
   *
   * @param {Uint8Array | string} body
   * @param {OperationTypes["create_import"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Import"]>}
   */
  async createImport(body, query, options) {
    const call = { method: "POST", path: "/v1/imports", query, body, type: "application/octet-stream" };
    return this.json(call, options);
  }

  /**
   * Look at an import: totals, progress, and a page of its rows with their errors and orders.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/imports/{id}`
   *
   * @param {string} id
   * @param {OperationTypes["get_import"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {import("./pages.js").Pages<Schemas["ImportDetail"]>}
   */
  getImport(id, query, options) {
    const call = { method: "GET", path: `/v1/imports/${segment(id)}`, query };
    return this.pages(call, "cursor", options);
  }

  /**
   * Confirm the total that you saw, and have the orders placed in the background.
   *
   * Orders with an error are left out. Each order is placed at the price that was previewed: one
   * that costs something else by then fails with `price_changed`. However often this is sent, and
   * whatever breaks, no row is ordered twice.
   *
   * Requires the role `buyer`. Scope: `order`.
   *
   * `POST /v1/imports/{id}/order`
   *
   * @param {string} id
   * @param {Schemas["ImportConfirmInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Import"]>}
   */
  async orderImport(id, body, options) {
    const call = { method: "POST", path: `/v1/imports/${segment(id)}/order`, body };
    return this.json(call, options);
  }

  /**
   * Request the payment of an order. Another person has to approve it.
   *
   * The request is for what the order costs now. If that changes before it is paid, the request is
   * `superseded` and `payment_status` is `unpaid` again. Whoever approves it sees the `note`.
   *
   * Requires the role `buyer`. Scope: `pay_request`.
   *
   * `POST /v1/orders/{id}/payment`
   *
   * @param {string} id
   * @param {Schemas["PaymentInput"]} [body]
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Payment"]>}
   */
  async requestOrderPayment(id, body, options) {
    const call = { method: "POST", path: `/v1/orders/${segment(id)}/payment`, body, keyed: true };
    return this.json(call, options);
  }

  /**
   * Withdraw a payment request that is not approved or rejected yet.
   *
   * Requires the role `buyer`. Scope: `pay_request`.
   *
   * `DELETE /v1/orders/{id}/payment`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Payment"]>}
   */
  async withdrawOrderPayment(id, options) {
    const call = { method: "DELETE", path: `/v1/orders/${segment(id)}/payment`, keyed: true };
    return this.json(call, options);
  }

  /**
   * List every request to pay an order, newest first.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/orders/{id}/payments`
   *
   * @param {string} id
   * @param {OperationTypes["list_order_payments"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {import("./pages.js").Pages<Schemas["PaymentPage"]>}
   */
  listOrderPayments(id, query, options) {
    const call = { method: "GET", path: `/v1/orders/${segment(id)}/payments`, query };
    return this.pages(call, "cursor", options);
  }

  /**
   * Request a refund from the seller, of all or a part.
   *
   * The refund is `requested` until the seller decides. `payment_status` becomes
   * `partially_refunded` or `refunded` when the money is back.
   *
   * Requires the role `buyer`. Scope: `pay_request`.
   *
   * `POST /v1/orders/{id}/refunds`
   *
   * @param {string} id
   * @param {Schemas["RefundInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Refund"]>}
   */
  async requestRefund(id, body, options) {
    const call = { method: "POST", path: `/v1/orders/${segment(id)}/refunds`, body, keyed: true };
    return this.json(call, options);
  }

  /**
   * List every refund of an order, newest first.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/orders/{id}/refunds`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["RefundPage"]>}
   */
  async listRefunds(id, options) {
    const call = { method: "GET", path: `/v1/orders/${segment(id)}/refunds` };
    return this.json(call, options);
  }

  /**
   * List payments of all accounts, with their orders.
   *
   * Without a filter it is the queue: what waits for approval, the least time left before the
   * platform closes the order first. With a filter, the newest come first.
   *
   * Requires the role `approver`. Scope: `read`.
   *
   * `GET /v1/payments`
   *
   * @param {OperationTypes["list_payments"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {import("./pages.js").Pages<Schemas["PaymentWithOrderPage"]>}
   */
  listPayments(query, options) {
    const call = { method: "GET", path: "/v1/payments", query };
    return this.pages(call, "cursor", options);
  }

  /**
   * Get a payment request of any account, with its order.
   *
   * Requires the role `approver`. Scope: `read`.
   *
   * `GET /v1/payments/{id}`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["PaymentWithOrder"]>}
   */
  async getPayment(id, options) {
    const call = { method: "GET", path: `/v1/payments/${segment(id)}` };
    return this.json(call, options);
  }

  /**
   * Approve a payment that another person requested.
   *
   * Send the `amount_cny` that you saw: if it is another by now, nothing is approved. What was
   * approved is paid exactly once, and not at all if its amount changes first. While an operator
   * has locked the account of the order, nothing of it can be approved.
   *
   * Requires the role `approver`. Not for API keys with scopes.
   *
   * `POST /v1/payments/{id}/approve`
   *
   * @param {string} id
   * @param {Schemas["ApproveInput"]} [body]
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["PaymentWithOrder"]>}
   */
  async approvePayment(id, body, options) {
    const call = { method: "POST", path: `/v1/payments/${segment(id)}/approve`, body, keyed: true };
    return this.json(call, options);
  }

  /**
   * Reject a payment that another person requested, with a reason.
   *
   * Requires the role `approver`. Not for API keys with scopes.
   *
   * `POST /v1/payments/{id}/reject`
   *
   * @param {string} id
   * @param {Schemas["RejectInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["PaymentWithOrder"]>}
   */
  async rejectPayment(id, body, options) {
    const call = { method: "POST", path: `/v1/payments/${segment(id)}/reject`, body, keyed: true };
    return this.json(call, options);
  }

  /**
   * Move an order on a simulated platform, and return it after a sync.
   *
   * Everything that follows is real: the sync, the events, the webhooks.
   *
   * Requires the role `buyer`. Scope: `order`.
   *
   * `POST /v1/sandbox/orders/{id}/advance`
   *
   * @param {string} id
   * @param {Schemas["AdvanceInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Order"]>}
   */
  async advanceSandboxOrder(id, body, options) {
    const call = { method: "POST", path: `/v1/sandbox/orders/${segment(id)}/advance`, body };
    return this.json(call, options);
  }

  /**
   * Read your journal, oldest first.
   *
   * Each item is the exact body that webhooks get. The events of your account are numbered without
   * gaps, in the order in which they were committed, and the cursor is the number of the last one
   * you got. So it never skips an event, not even one that was being written while you read, and
   * you can prove that you have them all: without filters, `first_number` of a page is one more
   * than `last_number` of the page before. Events are kept for 30 days unless the operator set
   * another time.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/events`
   *
   * @param {OperationTypes["list_events"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {import("./pages.js").Pages<Schemas["EventPage"]>}
   */
  listEvents(query, options) {
    const call = { method: "GET", path: "/v1/events", query };
    return this.pages(call, "after", options);
  }

  /**
   * Receive your events as they happen, as server-sent events.
   *
   * No public address is needed. The response does not end by itself: each event is sent when it
   * was committed, in the order of the journal. When the connection is lost, connect again with
   * `Last-Event-ID`: no event is skipped or repeated. The first block has an `id` and no event, so
   * that you can resume before you got one. A comment is sent every 15 seconds. Your account may
   * have 8 streams open. A stream ends within a second when its key is revoked, its session ends or
   * the account is locked, and when the server stops: connect again.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/events/stream`
   *
   * @param {OperationTypes["stream_events"]["parameters"]["query"]} [query]
   * @param {StreamOptions} [options]
   * @returns {AsyncGenerator<import("./stream.js").StreamedEvent, void, undefined>}
   */
  streamEvents(query, options) {
    const call = { method: "GET", path: "/v1/events/stream", query };
    return this.stream(call, options);
  }

  /**
   * Look at one event, in the exact bytes that webhooks get.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/events/{id}`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["EventBody"]>}
   */
  async getEvent(id, options) {
    const call = { method: "GET", path: `/v1/events/${segment(id)}` };
    return this.json(call, options);
  }

  /**
   * List the event types: what each means, its causes, and the body that is sent for each cause.
   *
   * An example has the fields, their order and the spelling of a real delivery.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/event-types`
   *
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["EventTypePage"]>}
   */
  async listEventTypes(options) {
    const call = { method: "GET", path: "/v1/event-types" };
    return this.json(call, options);
  }

  /**
   * Export your orders as CSV, newest first: a row for each line of each order.
   *
   * The amounts of an order are in the row of its first line only, so that the sum of a column is
   * right. The first row names the columns; read columns by name, since new ones may be added. Text
   * that a spreadsheet would run as a formula begins with an apostrophe. If the connection closes
   * before the end of the response, the file is incomplete.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/exports/orders`
   *
   * @param {OperationTypes["export_orders"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {Promise<Response>}
   */
  async exportOrders(query, options) {
    const call = { method: "GET", path: "/v1/exports/orders", query };
    return this.raw(call, options);
  }

  /**
   * Export payments of all accounts as CSV, newest first; without a filter, all of them.
   *
   * Requires the role `approver`. Scope: `read`.
   *
   * `GET /v1/exports/payments`
   *
   * @param {OperationTypes["export_payments"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {Promise<Response>}
   */
  async exportPayments(query, options) {
    const call = { method: "GET", path: "/v1/exports/payments", query };
    return this.raw(call, options);
  }

  /**
   * Export attempts to deliver events as CSV, newest first.
   *
   * Without `webhook`, the attempts of each webhook follow each other.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/exports/deliveries`
   *
   * @param {OperationTypes["export_deliveries"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {Promise<Response>}
   */
  async exportDeliveries(query, options) {
    const call = { method: "GET", path: "/v1/exports/deliveries", query };
    return this.raw(call, options);
  }

  /**
   * Export your journal as CSV, oldest first.
   *
   * Requires the role `buyer`. Scope: `read`.
   *
   * `GET /v1/exports/events`
   *
   * @param {OperationTypes["export_events"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {Promise<Response>}
   */
  async exportEvents(query, options) {
    const call = { method: "GET", path: "/v1/exports/events", query };
    return this.raw(call, options);
  }

  /**
   * Export the audit log as CSV, newest first.
   *
   * Requires the role `operator`. Not for API keys with scopes.
   *
   * `GET /v1/exports/audit`
   *
   * @param {OperationTypes["export_audit"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {Promise<Response>}
   */
  async exportAudit(query, options) {
    const call = { method: "GET", path: "/v1/exports/audit", query };
    return this.raw(call, options);
  }

  /**
   * Take a push from a marketplace, in its own format and with its own signature.
   *
   * It is only ever a hint: the orders that it names are read through the marketplace's API, unless
   * it tells nothing new, as a notice about our own call.
   *
   * `POST /v1/notices/{platform}`
   *
   * @param {string} platform
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Notice"]>}
   */
  async receiveNotice(platform, options) {
    const call = { method: "POST", path: `/v1/notices/${segment(platform)}` };
    return this.json(call, options);
  }

  /**
   * List accounts, newest first.
   *
   * Requires the role `operator`. Not for API keys with scopes.
   *
   * `GET /v1/admin/accounts`
   *
   * @param {OperationTypes["list_accounts"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {import("./pages.js").Pages<Schemas["AdminAccountPage"]>}
   */
  listAccounts(query, options) {
    const call = { method: "GET", path: "/v1/admin/accounts", query };
    return this.pages(call, "cursor", options);
  }

  /**
   * Create an account.
   *
   * Without `password`, create a password link next and send it to the owner.
   *
   * Requires the role `operator`. Not for API keys with scopes.
   *
   * `POST /v1/admin/accounts`
   *
   * @param {Schemas["NewAccountInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["AdminAccount"]>}
   */
  async createAccount(body, options) {
    const call = { method: "POST", path: "/v1/admin/accounts", body };
    return this.json(call, options);
  }

  /**
   * One account.
   *
   * Requires the role `operator`. Not for API keys with scopes.
   *
   * `GET /v1/admin/accounts/{id}`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["AdminAccount"]>}
   */
  async getAccount(id, options) {
    const call = { method: "GET", path: `/v1/admin/accounts/${segment(id)}` };
    return this.json(call, options);
  }

  /**
   * Lock an account.
   *
   * From this response on every credential of it gets 403 `account_locked`, and its sessions have
   * ended. No payment of it can be approved (409 `account_locked`), and an approved payment that
   * was not sent to the marketplace yet waits for the unlock. Its orders are still synced and its
   * deliveries still sent.
   *
   * Requires the role `operator`. Not for API keys with scopes.
   *
   * `POST /v1/admin/accounts/{id}/lock`
   *
   * @param {string} id
   * @param {Schemas["LockInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["AdminAccount"]>}
   */
  async lockAccount(id, body, options) {
    const call = { method: "POST", path: `/v1/admin/accounts/${segment(id)}/lock`, body };
    return this.json(call, options);
  }

  /**
   * Unlock an account: its API keys work again at once, its people log in again.
   *
   * Approved payments are made now. A stop after failed logins ends as well.
   *
   * Requires the role `operator`. Not for API keys with scopes.
   *
   * `POST /v1/admin/accounts/{id}/unlock`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["AdminAccount"]>}
   */
  async unlockAccount(id, options) {
    const call = { method: "POST", path: `/v1/admin/accounts/${segment(id)}/unlock` };
    return this.json(call, options);
  }

  /**
   * Put an account on another plan; its next request has the new limits.
   *
   * Requires the role `operator`. Not for API keys with scopes.
   *
   * `POST /v1/admin/accounts/{id}/plan`
   *
   * @param {string} id
   * @param {Schemas["PlanInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["AdminAccount"]>}
   */
  async changePlan(id, body, options) {
    const call = { method: "POST", path: `/v1/admin/accounts/${segment(id)}/plan`, body };
    return this.json(call, options);
  }

  /**
   * Give an account exactly these roles, from its next request on.
   *
   * Requires the role `operator`. Not for API keys with scopes.
   *
   * `POST /v1/admin/accounts/{id}/roles`
   *
   * @param {string} id
   * @param {Schemas["RolesInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["AdminAccount"]>}
   */
  async changeRoles(id, body, options) {
    const call = { method: "POST", path: `/v1/admin/accounts/${segment(id)}/roles`, body };
    return this.json(call, options);
  }

  /**
   * Create a one-time link with which the account's owner chooses a password.
   *
   * It works once, for 24 hours, and replaces any earlier link of the account.
   *
   * Requires the role `operator`. Not for API keys with scopes.
   *
   * `POST /v1/admin/accounts/{id}/password-link`
   *
   * @param {string} id
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["PasswordLink"]>}
   */
  async makePasswordLink(id, options) {
    const call = { method: "POST", path: `/v1/admin/accounts/${segment(id)}/password-link` };
    return this.json(call, options);
  }

  /**
   * List the orders of every account, or of one, newest first.
   *
   * Requires the role `operator`. Not for API keys with scopes.
   *
   * `GET /v1/admin/orders`
   *
   * @param {OperationTypes["list_all_orders"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {import("./pages.js").Pages<Schemas["OrderPage"]>}
   */
  listAllOrders(query, options) {
    const call = { method: "GET", path: "/v1/admin/orders", query };
    return this.pages(call, "cursor", options);
  }

  /**
   * List the subscriptions of every account, newest first.
   *
   * Requires the role `operator`. Not for API keys with scopes.
   *
   * `GET /v1/admin/webhooks`
   *
   * @param {OperationTypes["list_all_webhooks"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {import("./pages.js").Pages<Schemas["AdminSubscriptionPage"]>}
   */
  listAllWebhooks(query, options) {
    const call = { method: "GET", path: "/v1/admin/webhooks", query };
    return this.pages(call, "cursor", options);
  }

  /**
   * List what waits to be delivered, by subscription, those first that have waited longest.
   *
   * Requires the role `operator`. Not for API keys with scopes.
   *
   * `GET /v1/admin/queue`
   *
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["QueuePage"]>}
   */
  async listQueue(options) {
    const call = { method: "GET", path: "/v1/admin/queue" };
    return this.json(call, options);
  }

  /**
   * Our connection to a marketplace. Secrets and tokens are never shown.
   *
   * Requires the role `operator`. Not for API keys with scopes.
   *
   * `GET /v1/admin/platforms/{platform}`
   *
   * @param {string} platform
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Connection"]>}
   */
  async getPlatformConnection(platform, options) {
    const call = { method: "GET", path: `/v1/admin/platforms/${segment(platform)}` };
    return this.json(call, options);
  }

  /**
   * Set a marketplace's application, and authorise it by a code or by tokens.
   *
   * Fields that are left out keep their value. Secrets are encrypted at rest and never shown.
   *
   * Requires the role `operator`. Not for API keys with scopes.
   *
   * `POST /v1/admin/platforms/{platform}`
   *
   * @param {string} platform
   * @param {Schemas["CredentialsInput"]} body
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Connection"]>}
   */
  async connectPlatform(platform, body, options) {
    const call = { method: "POST", path: `/v1/admin/platforms/${segment(platform)}`, body };
    return this.json(call, options);
  }

  /**
   * Delete a marketplace's credentials.
   *
   * Requires the role `operator`. Not for API keys with scopes.
   *
   * `DELETE /v1/admin/platforms/{platform}`
   *
   * @param {string} platform
   * @param {CallOptions} [options]
   * @returns {Promise<void>}
   */
  async disconnectPlatform(platform, options) {
    const call = { method: "DELETE", path: `/v1/admin/platforms/${segment(platform)}` };
    return this.json(call, options);
  }

  /**
   * List changes of permissions and decisions about payments, newest first.
   *
   * Requires the role `operator`. Not for API keys with scopes.
   *
   * `GET /v1/admin/audit`
   *
   * @param {OperationTypes["list_audit"]["parameters"]["query"]} [query]
   * @param {CallOptions} [options]
   * @returns {import("./pages.js").Pages<Schemas["AuditPage"]>}
   */
  listAudit(query, options) {
    const call = { method: "GET", path: "/v1/admin/audit", query };
    return this.pages(call, "cursor", options);
  }

  /**
   * Whether the process is alive.
   *
   *
   * `GET /healthz`
   *
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Readiness"]>}
   */
  async healthz(options) {
    const call = { method: "GET", path: "/healthz" };
    return this.json(call, options);
  }

  /**
   * Whether the database acknowledges a change, with every migration and tomorrow's partitions.
   *
   * Otherwise 503 says what is missing. The change is tried at most once a second.
   *
   * `GET /readyz`
   *
   * @param {CallOptions} [options]
   * @returns {Promise<Schemas["Readiness"]>}
   */
  async readyz(options) {
    const call = { method: "GET", path: "/readyz" };
    return this.json(call, options);
  }
}
