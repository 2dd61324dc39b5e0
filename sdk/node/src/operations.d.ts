// Declared by operations.js. Generated from the OpenAPI document by `make client`.
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
    login(body: Schemas["LoginInput"], options?: CallOptions): Promise<Schemas["Tokens"]>;
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
    refresh(body: Schemas["RefreshInput"], options?: CallOptions): Promise<Schemas["Tokens"]>;
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
    logout(options?: CallOptions): Promise<void>;
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
    getMe(options?: CallOptions): Promise<Schemas["Me"]>;
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
    changePassword(body: Schemas["PasswordInput"], options?: CallOptions): Promise<void>;
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
    listApiKeys(query?: OperationTypes["list_api_keys"]["parameters"]["query"], options?: CallOptions): import("./pages.js").Pages<Schemas["KeyPage"]>;
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
    createApiKey(body: Schemas["NewKeyInput"], options?: CallOptions): Promise<Schemas["NewKey"]>;
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
    revokeApiKey(id: string, options?: CallOptions): Promise<void>;
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
    listPlatforms(options?: CallOptions): Promise<Schemas["PlatformPage"]>;
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
    searchProducts(body: Schemas["SearchInput"], options?: CallOptions): Promise<Schemas["Search"]>;
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
    searchProductsByImage(body: Schemas["ImageSearchInput"], options?: CallOptions): Promise<Schemas["ImageSearch"]>;
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
    resolve(body: Schemas["ResolveInput"], options?: CallOptions): Promise<Schemas["Resolve"]>;
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
    getProduct(platform: string, id: string, query?: OperationTypes["get_product"]["parameters"]["query"], options?: CallOptions): Promise<Schemas["Product"]>;
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
    listAddresses(query?: OperationTypes["list_addresses"]["parameters"]["query"], options?: CallOptions): import("./pages.js").Pages<Schemas["SavedAddressPage"]>;
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
    createAddress(body: Schemas["SavedAddressInput"], options?: CallOptions): Promise<Schemas["SavedAddress"]>;
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
    parseAddress(body: Schemas["PastedAddressInput"], options?: CallOptions): Promise<Schemas["PastedAddress"]>;
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
    getSavedAddress(id: string, options?: CallOptions): Promise<Schemas["SavedAddress"]>;
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
    updateAddress(id: string, body: Schemas["SavedAddressPatch"], options?: CallOptions): Promise<Schemas["SavedAddress"]>;
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
    deleteAddress(id: string, options?: CallOptions): Promise<void>;
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
    getCart(options?: CallOptions): Promise<Schemas["Cart"]>;
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
    addCartItem(body: Schemas["CartItemInput"], options?: CallOptions): Promise<Schemas["CartItem"]>;
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
    updateCartItem(id: string, body: Schemas["CartItemPatch"], options?: CallOptions): Promise<Schemas["CartItem"]>;
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
    removeCartItem(id: string, options?: CallOptions): Promise<void>;
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
    previewCart(body: Schemas["CartSelectionInput"], options?: CallOptions): Promise<Schemas["CartPreview"]>;
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
    orderCart(body: Schemas["CartSelectionInput"], options?: CallOptions): Promise<Schemas["CartOrder"]>;
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
    listWebhooks(query?: OperationTypes["list_webhooks"]["parameters"]["query"], options?: CallOptions): import("./pages.js").Pages<Schemas["SubscriptionPage"]>;
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
    createWebhook(body: Schemas["SubscriptionInput"], options?: CallOptions): Promise<Schemas["NewSubscription"]>;
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
    getWebhook(id: string, options?: CallOptions): Promise<Schemas["Subscription"]>;
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
    updateWebhook(id: string, body: Schemas["SubscriptionPatch"], options?: CallOptions): Promise<Schemas["Subscription"]>;
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
    deleteWebhook(id: string, options?: CallOptions): Promise<void>;
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
    rotateWebhookSecret(id: string, options?: CallOptions): Promise<Schemas["Rotated"]>;
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
    listDeliveries(id: string, query?: OperationTypes["list_deliveries"]["parameters"]["query"], options?: CallOptions): import("./pages.js").Pages<Schemas["DeliveryPage"]>;
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
    getDelivery(id: string, dlv: string, options?: CallOptions): Promise<Schemas["DeliveryDetail"]>;
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
    redeliver(id: string, dlv: string, options?: CallOptions): Promise<Schemas["Pending"]>;
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
    listPending(id: string, query?: OperationTypes["list_pending"]["parameters"]["query"], options?: CallOptions): import("./pages.js").Pages<Schemas["PendingPage"]>;
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
    recoverWebhook(id: string, body: Schemas["RecoverInput"], options?: CallOptions): Promise<Schemas["Recover"]>;
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
    listRecoveries(id: string, query?: OperationTypes["list_recoveries"]["parameters"]["query"], options?: CallOptions): import("./pages.js").Pages<Schemas["JobPage"]>;
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
    getRecovery(id: string, job: string, options?: CallOptions): Promise<Schemas["Job"]>;
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
    cancelRecovery(id: string, job: string, options?: CallOptions): Promise<Schemas["Job"]>;
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
    getWebhookHealth(id: string, options?: CallOptions): Promise<Schemas["WebhookHealth"]>;
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
    explainDelivery(id: string, query: OperationTypes["explain_delivery"]["parameters"]["query"], options?: CallOptions): Promise<Schemas["Explain"]>;
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
    testWebhook(id: string, body?: Schemas["TestInput"], options?: CallOptions): Promise<Schemas["Test"]>;
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
    previewOrder(body: Schemas["OrderInput"], options?: CallOptions): Promise<Schemas["Preview"]>;
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
    createOrder(body: Schemas["OrderInput"], options?: CallOptions): Promise<Schemas["Order"]>;
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
    listOrders(query?: OperationTypes["list_orders"]["parameters"]["query"], options?: CallOptions): import("./pages.js").Pages<Schemas["OrderPage"]>;
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
    diffOrders(body: Schemas["DiffInput"], options?: CallOptions): Promise<Schemas["Diff"]>;
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
    getOrder(id: string, options?: CallOptions): Promise<Schemas["Order"]>;
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
    cancelOrder(id: string, options?: CallOptions): Promise<Schemas["Order"]>;
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
    getOrderTimeline(id: string, query?: OperationTypes["get_order_timeline"]["parameters"]["query"], options?: CallOptions): import("./pages.js").Pages<Schemas["ChangePage"]>;
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
    createImport(body: Uint8Array | string, query?: OperationTypes["create_import"]["parameters"]["query"], options?: CallOptions): Promise<Schemas["Import"]>;
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
    getImport(id: string, query?: OperationTypes["get_import"]["parameters"]["query"], options?: CallOptions): import("./pages.js").Pages<Schemas["ImportDetail"]>;
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
    orderImport(id: string, body: Schemas["ImportConfirmInput"], options?: CallOptions): Promise<Schemas["Import"]>;
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
    requestOrderPayment(id: string, body?: Schemas["PaymentInput"], options?: CallOptions): Promise<Schemas["Payment"]>;
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
    withdrawOrderPayment(id: string, options?: CallOptions): Promise<Schemas["Payment"]>;
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
    listOrderPayments(id: string, query?: OperationTypes["list_order_payments"]["parameters"]["query"], options?: CallOptions): import("./pages.js").Pages<Schemas["PaymentPage"]>;
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
    requestRefund(id: string, body: Schemas["RefundInput"], options?: CallOptions): Promise<Schemas["Refund"]>;
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
    listRefunds(id: string, options?: CallOptions): Promise<Schemas["RefundPage"]>;
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
    listPayments(query?: OperationTypes["list_payments"]["parameters"]["query"], options?: CallOptions): import("./pages.js").Pages<Schemas["PaymentWithOrderPage"]>;
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
    getPayment(id: string, options?: CallOptions): Promise<Schemas["PaymentWithOrder"]>;
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
    approvePayment(id: string, body?: Schemas["ApproveInput"], options?: CallOptions): Promise<Schemas["PaymentWithOrder"]>;
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
    rejectPayment(id: string, body: Schemas["RejectInput"], options?: CallOptions): Promise<Schemas["PaymentWithOrder"]>;
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
    advanceSandboxOrder(id: string, body: Schemas["AdvanceInput"], options?: CallOptions): Promise<Schemas["Order"]>;
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
    listEvents(query?: OperationTypes["list_events"]["parameters"]["query"], options?: CallOptions): import("./pages.js").Pages<Schemas["EventPage"]>;
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
    streamEvents(query?: OperationTypes["stream_events"]["parameters"]["query"], options?: StreamOptions): AsyncGenerator<import("./stream.js").StreamedEvent, void, undefined>;
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
    getEvent(id: string, options?: CallOptions): Promise<Schemas["EventBody"]>;
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
    listEventTypes(options?: CallOptions): Promise<Schemas["EventTypePage"]>;
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
    exportOrders(query?: OperationTypes["export_orders"]["parameters"]["query"], options?: CallOptions): Promise<Response>;
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
    exportPayments(query?: OperationTypes["export_payments"]["parameters"]["query"], options?: CallOptions): Promise<Response>;
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
    exportDeliveries(query?: OperationTypes["export_deliveries"]["parameters"]["query"], options?: CallOptions): Promise<Response>;
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
    exportEvents(query?: OperationTypes["export_events"]["parameters"]["query"], options?: CallOptions): Promise<Response>;
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
    exportAudit(query?: OperationTypes["export_audit"]["parameters"]["query"], options?: CallOptions): Promise<Response>;
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
    receiveNotice(platform: string, options?: CallOptions): Promise<Schemas["Notice"]>;
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
    listAccounts(query?: OperationTypes["list_accounts"]["parameters"]["query"], options?: CallOptions): import("./pages.js").Pages<Schemas["AdminAccountPage"]>;
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
    createAccount(body: Schemas["NewAccountInput"], options?: CallOptions): Promise<Schemas["AdminAccount"]>;
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
    getAccount(id: string, options?: CallOptions): Promise<Schemas["AdminAccount"]>;
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
    lockAccount(id: string, body: Schemas["LockInput"], options?: CallOptions): Promise<Schemas["AdminAccount"]>;
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
    unlockAccount(id: string, options?: CallOptions): Promise<Schemas["AdminAccount"]>;
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
    changePlan(id: string, body: Schemas["PlanInput"], options?: CallOptions): Promise<Schemas["AdminAccount"]>;
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
    changeRoles(id: string, body: Schemas["RolesInput"], options?: CallOptions): Promise<Schemas["AdminAccount"]>;
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
    makePasswordLink(id: string, options?: CallOptions): Promise<Schemas["PasswordLink"]>;
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
    listAllOrders(query?: OperationTypes["list_all_orders"]["parameters"]["query"], options?: CallOptions): import("./pages.js").Pages<Schemas["OrderPage"]>;
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
    listAllWebhooks(query?: OperationTypes["list_all_webhooks"]["parameters"]["query"], options?: CallOptions): import("./pages.js").Pages<Schemas["AdminSubscriptionPage"]>;
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
    listQueue(options?: CallOptions): Promise<Schemas["QueuePage"]>;
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
    getPlatformConnection(platform: string, options?: CallOptions): Promise<Schemas["Connection"]>;
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
    connectPlatform(platform: string, body: Schemas["CredentialsInput"], options?: CallOptions): Promise<Schemas["Connection"]>;
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
    disconnectPlatform(platform: string, options?: CallOptions): Promise<void>;
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
    listAudit(query?: OperationTypes["list_audit"]["parameters"]["query"], options?: CallOptions): import("./pages.js").Pages<Schemas["AuditPage"]>;
    /**
     * Whether the process is alive.
     *
     *
     * `GET /healthz`
     *
     * @param {CallOptions} [options]
     * @returns {Promise<Schemas["Readiness"]>}
     */
    healthz(options?: CallOptions): Promise<Schemas["Readiness"]>;
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
    readyz(options?: CallOptions): Promise<Schemas["Readiness"]>;
}
export type Schemas = import("./openapi.js").components["schemas"];
export type OperationTypes = import("./openapi.js").operations;
export type CallOptions = import("./transport.js").CallOptions;
export type StreamOptions = import("./transport.js").StreamOptions;
import { Transport } from "./transport.js";
