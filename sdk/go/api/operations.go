// Code generated from the OpenAPI document by `make client`. DO NOT EDIT.

package api

import (
	"context"
	"io"
	"iter"
	"net/url"
	"time"
)

// Login: Log in with e-mail and password.
//
// The access token is valid for 90 days: cache it, and send it as `Authorization: Bearer …`.
// Credentials sent along are ignored. 30 logins a minute are tried from one address (429); ten
// failures within 15 minutes stop logins for that e-mail for 15 minutes (403).
//
// POST /v1/auth/login
func (c *Client) Login(ctx context.Context, body LoginInput, options ...CallOption) (*Tokens, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/auth/login"
	return doJSON[Tokens](ctx, c, request, options)
}

// Refresh: Exchange a refresh token for a new pair.
//
// A refresh token works once. The one before it gets the same new pair for another 60 seconds, in
// case the response was lost; any older one ends the whole session.
//
// POST /v1/auth/refresh
func (c *Client) Refresh(ctx context.Context, body RefreshInput, options ...CallOption) (*Tokens, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/auth/refresh"
	return doJSON[Tokens](ctx, c, request, options)
}

// Logout: End the session of the access token that you send.
//
// From this response on no process accepts its tokens. An API key has no session (422).
//
// Scope: any.
//
// POST /v1/auth/logout
func (c *Client) Logout(ctx context.Context, options ...CallOption) error {
	request := call{method: "POST"}
	request.path = "/v1/auth/logout"
	return c.do(ctx, request, nil, options)
}

// GetMe: The account behind the credentials: roles, plan, and what is left of its rate budget.
//
// Scope: any.
//
// GET /v1/me
func (c *Client) GetMe(ctx context.Context, options ...CallOption) (*Me, error) {
	request := call{method: "GET"}
	request.path = "/v1/me"
	return doJSON[Me](ctx, c, request, options)
}

// ChangePassword: Change your password.
//
// Every session of the account ends, this one included: log in again with the new password. API
// keys continue to work. Wrong passwords count as failed logins (403 after ten).
//
// Not for API keys with scopes.
//
// POST /v1/me/password
func (c *Client) ChangePassword(ctx context.Context, body PasswordInput, options ...CallOption) error {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/me/password"
	return c.do(ctx, request, nil, options)
}

// ListAPIKeysQuery has the parameters of ListAPIKeys.
type ListAPIKeysQuery struct {
	// The largest number of items.
	Limit *int
	// `next_cursor` of the previous page; omit it for the first page.
	Cursor *string
}

func (q ListAPIKeysQuery) values() url.Values {
	query := url.Values{}
	set(query, "limit", q.Limit)
	set(query, "cursor", q.Cursor)
	return query
}

// ListAPIKeys: List your API keys, newest first, the revoked ones included.
//
// Not for API keys with scopes.
//
// GET /v1/api-keys
func (c *Client) ListAPIKeys(ctx context.Context, query ListAPIKeysQuery, options ...CallOption) (*KeyPage, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/api-keys"
	return doJSON[KeyPage](ctx, c, request, options)
}

// ListAPIKeysSeq iterates over the items of all pages of ListAPIKeys. An error ends it.
func (c *Client) ListAPIKeysSeq(ctx context.Context, query ListAPIKeysQuery, options ...CallOption) iter.Seq2[Key, error] {
	return sequence(func(cursor *string) ([]Key, *string, error) {
		if cursor != nil {
			query.Cursor = cursor
		}
		page, err := c.ListAPIKeys(ctx, query, options...)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, nextCursor(page.HasMore, page.NextCursor), nil
	})
}

// CreateAPIKey: Create an API key. Only this response contains the key itself.
//
// A key can do what its account can, unless it is restricted: to `scopes`, to the time before
// `expires_at`, or to the networks in `allowed_cidrs`. What a key is restricted to never changes.
//
// Not for API keys with scopes.
//
// POST /v1/api-keys
func (c *Client) CreateAPIKey(ctx context.Context, body NewKeyInput, options ...CallOption) (*NewKey, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/api-keys"
	return doJSON[NewKey](ctx, c, request, options)
}

// RevokeAPIKey: Revoke an API key: from this response on, no process accepts it.
//
// Revoking a revoked key changes nothing and succeeds.
//
// Not for API keys with scopes.
//
// DELETE /v1/api-keys/{id}
func (c *Client) RevokeAPIKey(ctx context.Context, id string, options ...CallOption) error {
	request := call{method: "DELETE"}
	request.path = "/v1/api-keys/" + request.segment(id)
	return c.do(ctx, request, nil, options)
}

// ListPlatforms: List the marketplaces, their capabilities, and whether each is connected here.
//
// Scope: `read`.
//
// GET /v1/platforms
func (c *Client) ListPlatforms(ctx context.Context, options ...CallOption) (*PlatformPage, error) {
	request := call{method: "GET"}
	request.path = "/v1/platforms"
	return doJSON[PlatformPage](ctx, c, request, options)
}

// SearchProducts: Search products on a marketplace, in any language.
//
// The same search within a minute may be answered from a cache; `Age` tells how old it is.
//
// Scope: `read`.
//
// POST /v1/products/search
func (c *Client) SearchProducts(ctx context.Context, body SearchInput, options ...CallOption) (*Search, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/products/search"
	return doJSON[Search](ctx, c, request, options)
}

// SearchProductsByImage: Search products that look like a picture.
//
// The marketplace needs the capability `image_search`. The picture is passed on to it and not
// stored here; it is recognised by its content: JPEG, PNG or WebP, at most 3 MiB, 16 to 10,000
// pixels a side and 50 megapixels. The body may have 4.25 MiB.
//
// For the next page, another order or other prices, send the `image_id` of the response instead of
// the picture. Only your account can use it, at the same marketplace. How long the marketplace
// keeps the picture is up to it; afterwards the code of the error at `/image_id` is `expired`.
// Taobao does not sort by sales here.
//
// Scope: `read`.
//
// POST /v1/products/image-search
func (c *Client) SearchProductsByImage(ctx context.Context, body ImageSearchInput, options ...CallOption) (*ImageSearch, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/products/image-search"
	return doJSON[ImageSearch](ctx, c, request, options)
}

// Resolve: Find the product that a link, a shared text or a product ID names.
//
// Links of 1688, Taobao and Tmall are known, desktop and mobile ones. Nothing is fetched: the
// product need not exist, and a short link (`m.tb.cn`, `qr.1688.com`) gets the error `short_link`,
// since it does not contain the ID. Other codes of errors at `/text` are `not_a_product` (a link of
// a marketplace to something else) and `no_product`.
//
// An ID without `platform` may be of several marketplaces: they are listed as `candidates`.
//
// Scope: `read`.
//
// POST /v1/products/resolve
func (c *Client) Resolve(ctx context.Context, body ResolveInput, options ...CallOption) (*Resolve, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/products/resolve"
	return doJSON[Resolve](ctx, c, request, options)
}

// GetProductQuery has the parameters of GetProduct.
type GetProductQuery struct {
	// The language of translations.
	Lang *string
}

func (q GetProductQuery) values() url.Values {
	query := url.Values{}
	set(query, "lang", q.Lang)
	return query
}

// GetProduct: Everything about a product: variants with stock, price ranges, pictures, shipping.
//
// Scope: `read`.
//
// GET /v1/products/{platform}/{id}
func (c *Client) GetProduct(ctx context.Context, platform string, id string, query GetProductQuery, options ...CallOption) (*Product, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/products/" + request.segment(platform) + "/" + request.segment(id)
	return doJSON[Product](ctx, c, request, options)
}

// ListAddressesQuery has the parameters of ListAddresses.
type ListAddressesQuery struct {
	// The largest number of items.
	Limit *int
	// `next_cursor` of the previous page; omit it for the first page.
	Cursor *string
}

func (q ListAddressesQuery) values() url.Values {
	query := url.Values{}
	set(query, "limit", q.Limit)
	set(query, "cursor", q.Cursor)
	return query
}

// ListAddresses: List your addresses, newest first.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/addresses
func (c *Client) ListAddresses(ctx context.Context, query ListAddressesQuery, options ...CallOption) (*SavedAddressPage, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/addresses"
	return doJSON[SavedAddressPage](ctx, c, request, options)
}

// ListAddressesSeq iterates over the items of all pages of ListAddresses. An error ends it.
func (c *Client) ListAddressesSeq(ctx context.Context, query ListAddressesQuery, options ...CallOption) iter.Seq2[SavedAddress, error] {
	return sequence(func(cursor *string) ([]SavedAddress, *string, error) {
		if cursor != nil {
			query.Cursor = cursor
		}
		page, err := c.ListAddresses(ctx, query, options...)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, nextCursor(page.HasMore, page.NextCursor), nil
	})
}

// CreateAddress: Save an address.
//
// Province, city and district are checked against the current divisions of China and saved by their
// full names: 浙江 becomes 浙江省, and the city of 北京 is 北京市. The first address of an account becomes
// its default. `is_default` makes this one the default instead of the present one.
//
// Requires the role `buyer`. Scope: `order`.
//
// POST /v1/addresses
func (c *Client) CreateAddress(ctx context.Context, body SavedAddressInput, options ...CallOption) (*SavedAddress, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/addresses"
	return doJSON[SavedAddress](ctx, c, request, options)
}

// ParseAddress: Take a pasted address apart. Nothing is stored.
//
// It reads labelled lines, or one line with spaces or commas, in any order, as people copy them
// from a marketplace or an order note. Province, city and district get their full names.
//
// Requires the role `buyer`. Scope: `read`.
//
// POST /v1/addresses/parse
func (c *Client) ParseAddress(ctx context.Context, body PastedAddressInput, options ...CallOption) (*PastedAddress, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/addresses/parse"
	return doJSON[PastedAddress](ctx, c, request, options)
}

// GetSavedAddress: Look at an address.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/addresses/{id}
func (c *Client) GetSavedAddress(ctx context.Context, id string, options ...CallOption) (*SavedAddress, error) {
	request := call{method: "GET"}
	request.path = "/v1/addresses/" + request.segment(id)
	return doJSON[SavedAddress](ctx, c, request, options)
}

// UpdateAddress: Change an address. Orders that were placed keep the address they were placed with.
//
// Requires the role `buyer`. Scope: `order`.
//
// PATCH /v1/addresses/{id}
func (c *Client) UpdateAddress(ctx context.Context, id string, body SavedAddressPatch, options ...CallOption) (*SavedAddress, error) {
	request := call{method: "PATCH", media: "application/json", body: body}
	request.path = "/v1/addresses/" + request.segment(id)
	return doJSON[SavedAddress](ctx, c, request, options)
}

// DeleteAddress: Delete an address. If it was the default, the newest of the others becomes the
// default.
//
// Requires the role `buyer`. Scope: `order`.
//
// DELETE /v1/addresses/{id}
func (c *Client) DeleteAddress(ctx context.Context, id string, options ...CallOption) error {
	request := call{method: "DELETE"}
	request.path = "/v1/addresses/" + request.segment(id)
	return c.do(ctx, request, nil, options)
}

// GetCart: Look at your cart: at most 200 lines, one for each product and variant.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/cart
func (c *Client) GetCart(ctx context.Context, options ...CallOption) (*Cart, error) {
	request := call{method: "GET"}
	request.path = "/v1/cart"
	return doJSON[Cart](ctx, c, request, options)
}

// AddCartItem: Add a product to the cart.
//
// The platform is asked for it now, and what it shows is kept with the line. What is in the cart
// already gets the quantity on top.
//
// Requires the role `buyer`. Scope: `order`.
//
// POST /v1/cart/items
func (c *Client) AddCartItem(ctx context.Context, body CartItemInput, options ...CallOption) (*CartItem, error) {
	request := call{method: "POST", keyed: true, media: "application/json", body: body}
	request.path = "/v1/cart/items"
	return doJSON[CartItem](ctx, c, request, options)
}

// UpdateCartItem: Change the quantity of a line.
//
// Requires the role `buyer`. Scope: `order`.
//
// PATCH /v1/cart/items/{id}
func (c *Client) UpdateCartItem(ctx context.Context, id string, body CartItemPatch, options ...CallOption) (*CartItem, error) {
	request := call{method: "PATCH", media: "application/json", body: body}
	request.path = "/v1/cart/items/" + request.segment(id)
	return doJSON[CartItem](ctx, c, request, options)
}

// RemoveCartItem: Remove a line from the cart.
//
// Requires the role `buyer`. Scope: `order`.
//
// DELETE /v1/cart/items/{id}
func (c *Client) RemoveCartItem(ctx context.Context, id string, options ...CallOption) error {
	request := call{method: "DELETE"}
	request.path = "/v1/cart/items/" + request.segment(id)
	return c.do(ctx, request, nil, options)
}

// PreviewCart: Say what the cart, or some of its lines, would cost now; nothing is ordered.
//
// Lines are grouped as they would be ordered: by platform and, where the platform takes one seller
// per order, by seller. Each group has its preview or its error.
//
// Requires the role `buyer`. Scope: `read`.
//
// POST /v1/cart/preview
func (c *Client) PreviewCart(ctx context.Context, body CartSelectionInput, options ...CallOption) (*CartPreview, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/cart/preview"
	return doJSON[CartPreview](ctx, c, request, options)
}

// OrderCart: Order the cart, or some of its lines: one order for each group.
//
// Groups are those of the preview. The response has the order or the error of each; one that fails
// does not undo the others. Lines that are ordered leave the cart.
//
// The Idempotency-Key covers the whole request. If something is missing (`complete` is false), a
// repeat with the same key orders what is missing, and nothing twice.
//
// Requires the role `buyer`. Scope: `order`.
//
// POST /v1/cart/order
func (c *Client) OrderCart(ctx context.Context, body CartSelectionInput, options ...CallOption) (*CartOrder, error) {
	request := call{method: "POST", keyed: true, media: "application/json", body: body}
	request.path = "/v1/cart/order"
	return doJSON[CartOrder](ctx, c, request, options)
}

// ListWebhooksQuery has the parameters of ListWebhooks.
type ListWebhooksQuery struct {
	// The largest number of items.
	Limit *int
	// `next_cursor` of the previous page; omit it for the first page.
	Cursor *string
}

func (q ListWebhooksQuery) values() url.Values {
	query := url.Values{}
	set(query, "limit", q.Limit)
	set(query, "cursor", q.Cursor)
	return query
}

// ListWebhooks: List your subscriptions, newest first. Secrets are not shown.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/webhooks
func (c *Client) ListWebhooks(ctx context.Context, query ListWebhooksQuery, options ...CallOption) (*SubscriptionPage, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/webhooks"
	return doJSON[SubscriptionPage](ctx, c, request, options)
}

// ListWebhooksSeq iterates over the items of all pages of ListWebhooks. An error ends it.
func (c *Client) ListWebhooksSeq(ctx context.Context, query ListWebhooksQuery, options ...CallOption) iter.Seq2[Subscription, error] {
	return sequence(func(cursor *string) ([]Subscription, *string, error) {
		if cursor != nil {
			query.Cursor = cursor
		}
		page, err := c.ListWebhooks(ctx, query, options...)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, nextCursor(page.HasMore, page.NextCursor), nil
	})
}

// CreateWebhook: Subscribe a URL to events. The answer holds the signing secret, this once.
//
// Requires the role `buyer`. Scope: `webhooks`.
//
// POST /v1/webhooks
func (c *Client) CreateWebhook(ctx context.Context, body SubscriptionInput, options ...CallOption) (*NewSubscription, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/webhooks"
	return doJSON[NewSubscription](ctx, c, request, options)
}

// GetWebhook: Look at a subscription.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/webhooks/{id}
func (c *Client) GetWebhook(ctx context.Context, id string, options ...CallOption) (*Subscription, error) {
	request := call{method: "GET"}
	request.path = "/v1/webhooks/" + request.segment(id)
	return doJSON[Subscription](ctx, c, request, options)
}

// UpdateWebhook: Change a subscription.
//
// Every attempt that is made after the answer, a retry included, uses the new values. Switching it
// off cancels what is pending; switching it on again forgets its failures. `headers` replaces all
// headers; a value of asterisks, as you read it, keeps the stored one.
//
// Requires the role `buyer`. Scope: `webhooks`.
//
// PATCH /v1/webhooks/{id}
func (c *Client) UpdateWebhook(ctx context.Context, id string, body SubscriptionPatch, options ...CallOption) (*Subscription, error) {
	request := call{method: "PATCH", media: "application/json", body: body}
	request.path = "/v1/webhooks/" + request.segment(id)
	return doJSON[Subscription](ctx, c, request, options)
}

// DeleteWebhook: Delete a subscription. What is pending for it is cancelled.
//
// Requires the role `buyer`. Scope: `webhooks`.
//
// DELETE /v1/webhooks/{id}
func (c *Client) DeleteWebhook(ctx context.Context, id string, options ...CallOption) error {
	request := call{method: "DELETE"}
	request.path = "/v1/webhooks/" + request.segment(id)
	return c.do(ctx, request, nil, options)
}

// RotateWebhookSecret: Issue a new secret. From the answer on nothing is signed with the old one.
//
// To rotate without a gap, add a second subscription with the same URL, accept both secrets, and
// delete the first.
//
// Requires the role `buyer`. Not for API keys with scopes.
//
// POST /v1/webhooks/{id}/rotate-secret
func (c *Client) RotateWebhookSecret(ctx context.Context, id string, options ...CallOption) (*Rotated, error) {
	request := call{method: "POST"}
	request.path = "/v1/webhooks/" + request.segment(id) + "/rotate-secret"
	return doJSON[Rotated](ctx, c, request, options)
}

// ListDeliveriesQuery has the parameters of ListDeliveries.
type ListDeliveriesQuery struct {
	//
	Outcome []Outcome
	// How the delivery as a whole ended: only attempts that ended one.
	Result []string
	//
	Event []string
	//
	Order *string
	//
	EventID *string
	//
	StatusCode []int
	// At or after.
	StartedAfter *time.Time
	// Before.
	StartedBefore *time.Time
	// The largest number of items.
	Limit *int
	// `next_cursor` of the previous page; omit it for the first page.
	Cursor *string
}

func (q ListDeliveriesQuery) values() url.Values {
	query := url.Values{}
	setAll(query, "outcome", q.Outcome)
	setAll(query, "result", q.Result)
	setAll(query, "event", q.Event)
	set(query, "order", q.Order)
	set(query, "event_id", q.EventID)
	setAll(query, "status_code", q.StatusCode)
	set(query, "started_after", q.StartedAfter)
	set(query, "started_before", q.StartedBefore)
	set(query, "limit", q.Limit)
	set(query, "cursor", q.Cursor)
	return query
}

// ListDeliveries: List attempts, newest first.
//
// They are kept for 30 days unless the operator set another time.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/webhooks/{id}/deliveries
func (c *Client) ListDeliveries(ctx context.Context, id string, query ListDeliveriesQuery, options ...CallOption) (*DeliveryPage, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/webhooks/" + request.segment(id) + "/deliveries"
	return doJSON[DeliveryPage](ctx, c, request, options)
}

// ListDeliveriesSeq iterates over the items of all pages of ListDeliveries. An error ends it.
func (c *Client) ListDeliveriesSeq(ctx context.Context, id string, query ListDeliveriesQuery, options ...CallOption) iter.Seq2[Delivery, error] {
	return sequence(func(cursor *string) ([]Delivery, *string, error) {
		if cursor != nil {
			query.Cursor = cursor
		}
		page, err := c.ListDeliveries(ctx, id, query, options...)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, nextCursor(page.HasMore, page.NextCursor), nil
	})
}

// GetDelivery: Look at one attempt: what was sent, byte for byte, and what came back.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/webhooks/{id}/deliveries/{dlv}
func (c *Client) GetDelivery(ctx context.Context, id string, dlv string, options ...CallOption) (*DeliveryDetail, error) {
	request := call{method: "GET"}
	request.path = "/v1/webhooks/" + request.segment(id) + "/deliveries/" + request.segment(dlv)
	return doJSON[DeliveryDetail](ctx, c, request, options)
}

// Redeliver: Deliver the same event once more: the same bytes, with three attempts of its own.
//
// Requires the role `buyer`. Scope: `webhooks`.
//
// POST /v1/webhooks/{id}/deliveries/{dlv}/redeliver
func (c *Client) Redeliver(ctx context.Context, id string, dlv string, options ...CallOption) (*Pending, error) {
	request := call{method: "POST"}
	request.path = "/v1/webhooks/" + request.segment(id) + "/deliveries/" + request.segment(dlv) + "/redeliver"
	return doJSON[Pending](ctx, c, request, options)
}

// ListPendingQuery has the parameters of ListPending.
type ListPendingQuery struct {
	// The largest number of items.
	Limit *int
	// `next_cursor` of the previous page; omit it for the first page.
	Cursor *string
}

func (q ListPendingQuery) values() url.Values {
	query := url.Values{}
	set(query, "limit", q.Limit)
	set(query, "cursor", q.Cursor)
	return query
}

// ListPending: List deliveries that are not over, by when they are due.
//
// Deliveries that were cancelled because the subscription was switched off, or no longer lists the
// event, are left out as soon as that change was answered.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/webhooks/{id}/pending
func (c *Client) ListPending(ctx context.Context, id string, query ListPendingQuery, options ...CallOption) (*PendingPage, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/webhooks/" + request.segment(id) + "/pending"
	return doJSON[PendingPage](ctx, c, request, options)
}

// ListPendingSeq iterates over the items of all pages of ListPending. An error ends it.
func (c *Client) ListPendingSeq(ctx context.Context, id string, query ListPendingQuery, options ...CallOption) iter.Seq2[Pending, error] {
	return sequence(func(cursor *string) ([]Pending, *string, error) {
		if cursor != nil {
			query.Cursor = cursor
		}
		page, err := c.ListPending(ctx, id, query, options...)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, nextCursor(page.HasMore, page.NextCursor), nil
	})
}

// RecoverWebhook: Replay what was missed: failed, cancelled, and older than the subscription too.
//
// It is paced so that live events do not wait behind it. `dry_run` only counts. Counting stops at
// 10,000: `count_is_exact` is false then, and a replay delivers the rest too.
//
// Requires the role `buyer`. Scope: `webhooks`.
//
// POST /v1/webhooks/{id}/recover
func (c *Client) RecoverWebhook(ctx context.Context, id string, body RecoverInput, options ...CallOption) (*Recover, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/webhooks/" + request.segment(id) + "/recover"
	return doJSON[Recover](ctx, c, request, options)
}

// ListRecoveriesQuery has the parameters of ListRecoveries.
type ListRecoveriesQuery struct {
	// The largest number of items.
	Limit *int
	// `next_cursor` of the previous page; omit it for the first page.
	Cursor *string
}

func (q ListRecoveriesQuery) values() url.Values {
	query := url.Values{}
	set(query, "limit", q.Limit)
	set(query, "cursor", q.Cursor)
	return query
}

// ListRecoveries: List the replays of a subscription, newest first, with how far each has come.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/webhooks/{id}/recover
func (c *Client) ListRecoveries(ctx context.Context, id string, query ListRecoveriesQuery, options ...CallOption) (*JobPage, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/webhooks/" + request.segment(id) + "/recover"
	return doJSON[JobPage](ctx, c, request, options)
}

// ListRecoveriesSeq iterates over the items of all pages of ListRecoveries. An error ends it.
func (c *Client) ListRecoveriesSeq(ctx context.Context, id string, query ListRecoveriesQuery, options ...CallOption) iter.Seq2[Job, error] {
	return sequence(func(cursor *string) ([]Job, *string, error) {
		if cursor != nil {
			query.Cursor = cursor
		}
		page, err := c.ListRecoveries(ctx, id, query, options...)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, nextCursor(page.HasMore, page.NextCursor), nil
	})
}

// GetRecovery: See how far a replay has come.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/webhooks/{id}/recover/{job}
func (c *Client) GetRecovery(ctx context.Context, id string, job string, options ...CallOption) (*Job, error) {
	request := call{method: "GET"}
	request.path = "/v1/webhooks/" + request.segment(id) + "/recover/" + request.segment(job)
	return doJSON[Job](ctx, c, request, options)
}

// CancelRecovery: Cancel a replay. What it has queued and not yet sent is not sent.
//
// Requires the role `buyer`. Scope: `webhooks`.
//
// DELETE /v1/webhooks/{id}/recover/{job}
func (c *Client) CancelRecovery(ctx context.Context, id string, job string, options ...CallOption) (*Job, error) {
	request := call{method: "DELETE"}
	request.path = "/v1/webhooks/" + request.segment(id) + "/recover/" + request.segment(job)
	return doJSON[Job](ctx, c, request, options)
}

// GetWebhookHealth: See how an endpoint did in the last 24 hours.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/webhooks/{id}/health
func (c *Client) GetWebhookHealth(ctx context.Context, id string, options ...CallOption) (*WebhookHealth, error) {
	request := call{method: "GET"}
	request.path = "/v1/webhooks/" + request.segment(id) + "/health"
	return doJSON[WebhookHealth](ctx, c, request, options)
}

// ExplainDeliveryQuery has the parameters of ExplainDelivery.
type ExplainDeliveryQuery struct {
	//
	Event string
}

func (q ExplainDeliveryQuery) values() url.Values {
	query := url.Values{}
	set(query, "event", &q.Event)
	return query
}

// ExplainDelivery: Say why an event was, or was not, delivered to this subscription.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/webhooks/{id}/explain
func (c *Client) ExplainDelivery(ctx context.Context, id string, query ExplainDeliveryQuery, options ...CallOption) (*Explain, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/webhooks/" + request.segment(id) + "/explain"
	return doJSON[Explain](ctx, c, request, options)
}

// TestWebhook: Send a test delivery at once, and say step by step how far it came.
//
// It is sent to a subscription that is switched off as well. The answer is 200 even if the endpoint
// failed. Each subscription can be tested 10 times a minute.
//
// Requires the role `buyer`. Scope: `webhooks`.
//
// POST /v1/webhooks/{id}/test
func (c *Client) TestWebhook(ctx context.Context, id string, body *TestInput, options ...CallOption) (*Test, error) {
	request := call{method: "POST", media: "application/json"}
	request.path = "/v1/webhooks/" + request.segment(id) + "/test"
	if body != nil {
		request.body = *body
	}
	return doJSON[Test](ctx, c, request, options)
}

// PreviewOrder: Say what an order would cost now, seller by seller, and what cannot be bought.
//
// Nothing is ordered. Items of several sellers, on a platform that takes one seller an order, are
// 422 `several_sellers` with the split, as they would be when ordered.
//
// Send `total_amount_cny` as `expected_total_cny` with the order to be safe from a price that
// changes in between. Provinces, cities and districts that are not known are `warnings`: such an
// order can be placed, and the platform decides.
//
// Requires the role `buyer`. Scope: `read`.
//
// POST /v1/orders/preview
func (c *Client) PreviewOrder(ctx context.Context, body OrderInput, options ...CallOption) (*Preview, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/orders/preview"
	return doJSON[Preview](ctx, c, request, options)
}

// CreateOrder: Place an order.
//
// It is previewed first; an order that is rejected for good is not stored. The response comes
// within seconds: with the platform's `order_id` if it has one by then, else with `status:
// creating`, and an `order.updated` event follows. A later rejection becomes `create_failed`.
// However often this request is repeated with the same Idempotency-Key, and whatever breaks, one
// order is made.
//
// Requires the role `buyer`. Scope: `order`.
//
// POST /v1/orders
func (c *Client) CreateOrder(ctx context.Context, body OrderInput, options ...CallOption) (*Order, error) {
	request := call{method: "POST", keyed: true, media: "application/json", body: body}
	request.path = "/v1/orders"
	return doJSON[Order](ctx, c, request, options)
}

// ListOrdersQuery has the parameters of ListOrders.
type ListOrdersQuery struct {
	//
	Status []OrderStatus
	//
	PaymentStatus []PaymentStatus
	//
	Platform []string
	// Your own id; repeat it for several, since an id may hold a comma.
	ExternalID []string
	// The platform's id.
	OrderID []string
	//
	TrackingNumber []string
	// At or after.
	CreatedAfter *time.Time
	// Before.
	CreatedBefore *time.Time
	// At or after.
	UpdatedAfter *time.Time
	// Before.
	UpdatedBefore *time.Time
	// The latest first.
	Sort *string
	// The largest number of items.
	Limit *int
	// `next_cursor` of the previous page; omit it for the first page.
	Cursor *string
}

func (q ListOrdersQuery) values() url.Values {
	query := url.Values{}
	setAll(query, "status", q.Status)
	setAll(query, "payment_status", q.PaymentStatus)
	setAll(query, "platform", q.Platform)
	setAll(query, "external_id", q.ExternalID)
	setAll(query, "order_id", q.OrderID)
	setAll(query, "tracking_number", q.TrackingNumber)
	set(query, "created_after", q.CreatedAfter)
	set(query, "created_before", q.CreatedBefore)
	set(query, "updated_after", q.UpdatedAfter)
	set(query, "updated_before", q.UpdatedBefore)
	set(query, "sort", q.Sort)
	set(query, "limit", q.Limit)
	set(query, "cursor", q.Cursor)
	return query
}

// ListOrders: List your orders as of their last sync, newest first.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/orders
func (c *Client) ListOrders(ctx context.Context, query ListOrdersQuery, options ...CallOption) (*OrderPage, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/orders"
	return doJSON[OrderPage](ctx, c, request, options)
}

// ListOrdersSeq iterates over the items of all pages of ListOrders. An error ends it.
func (c *Client) ListOrdersSeq(ctx context.Context, query ListOrdersQuery, options ...CallOption) iter.Seq2[Order, error] {
	return sequence(func(cursor *string) ([]Order, *string, error) {
		if cursor != nil {
			query.Cursor = cursor
		}
		page, err := c.ListOrders(ctx, query, options...)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, nextCursor(page.HasMore, page.NextCursor), nil
	})
}

// DiffOrders: Compare up to 1,000 orders with what you have, by `updated_at`.
//
// Returns those that differ, as they are now: a nightly reconciliation in one call.
//
// Requires the role `buyer`. Scope: `read`.
//
// POST /v1/orders/diff
func (c *Client) DiffOrders(ctx context.Context, body DiffInput, options ...CallOption) (*Diff, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/orders/diff"
	return doJSON[Diff](ctx, c, request, options)
}

// GetOrder: Look at an order, refreshed from its platform first.
//
// That takes three seconds at the most, however many ask at once. What it finds is journaled before
// you get the answer. If the platform fails, you get what we last heard, with `stale: true`.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/orders/{id}
func (c *Client) GetOrder(ctx context.Context, id string, options ...CallOption) (*Order, error) {
	request := call{method: "GET"}
	request.path = "/v1/orders/" + request.segment(id)
	return doJSON[Order](ctx, c, request, options)
}

// CancelOrder: Cancel an order that is not paid.
//
// `status` becomes `cancelled` when the platform says so. After payment it is too late: request a
// refund instead.
//
// Requires the role `buyer`. Scope: `order`.
//
// POST /v1/orders/{id}/cancel
func (c *Client) CancelOrder(ctx context.Context, id string, options ...CallOption) (*Order, error) {
	request := call{method: "POST", keyed: true}
	request.path = "/v1/orders/" + request.segment(id) + "/cancel"
	return doJSON[Order](ctx, c, request, options)
}

// GetOrderTimelineQuery has the parameters of GetOrderTimeline.
type GetOrderTimelineQuery struct {
	// The largest number of items.
	Limit *int
	// `next_cursor` of the previous page; omit it for the first page.
	Cursor *string
}

func (q GetOrderTimelineQuery) values() url.Values {
	query := url.Values{}
	set(query, "limit", q.Limit)
	set(query, "cursor", q.Cursor)
	return query
}

// GetOrderTimeline: Everything that happened to an order, newest first: what changed, why, and who
// asked.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/orders/{id}/timeline
func (c *Client) GetOrderTimeline(ctx context.Context, id string, query GetOrderTimelineQuery, options ...CallOption) (*ChangePage, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/orders/" + request.segment(id) + "/timeline"
	return doJSON[ChangePage](ctx, c, request, options)
}

// GetOrderTimelineSeq iterates over the items of all pages of GetOrderTimeline. An error ends it.
func (c *Client) GetOrderTimelineSeq(ctx context.Context, id string, query GetOrderTimelineQuery, options ...CallOption) iter.Seq2[Change, error] {
	return sequence(func(cursor *string) ([]Change, *string, error) {
		if cursor != nil {
			query.Cursor = cursor
		}
		page, err := c.GetOrderTimeline(ctx, id, query, options...)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, nextCursor(page.HasMore, page.NextCursor), nil
	})
}

// CreateImportQuery has the parameters of CreateImport.
type CreateImportQuery struct {
	// For people: how the file is called.
	FileName *string
	// The platform of rows without one, or of a file without the column.
	Platform *string
	// A column for a field, as `FIELD:NAME` with the name in the first row; repeat it for several.
	// Other columns are matched by their names.
	Column []string
}

func (q CreateImportQuery) values() url.Values {
	query := url.Values{}
	set(query, "file_name", q.FileName)
	set(query, "platform", q.Platform)
	setAll(query, "column", q.Column)
	return query
}

// CreateImport: Send a file with many orders. Nothing is ordered yet.
//
// The first row names the columns: `product_id`, `sku_id`, `quantity`, the fields of the address or
// `address` with the id or label of a saved one, and if you like `platform`, `external_id`,
// `remark` and `order_ref`; many other spellings are understood. Rows with the same `order_ref` are
// one order, and only one of them needs the address; any other row is an order of its own. A file
// without any address is shipped to the default address.
//
// Each row is checked at once, and then each order is previewed with its platform in the
// background: `GET /v1/imports/{id}` shows errors and totals, until `status` is `ready`.
//
// Requires the role `buyer`. Scope: `order`.
//
// POST /v1/imports
func (c *Client) CreateImport(ctx context.Context, body []byte, query CreateImportQuery, options ...CallOption) (*Import, error) {
	request := call{method: "POST", query: query.values(), media: "application/octet-stream", body: body}
	request.path = "/v1/imports"
	return doJSON[Import](ctx, c, request, options)
}

// GetImportQuery has the parameters of GetImport.
type GetImportQuery struct {
	// The largest number of items.
	Limit *int
	// `next_cursor` of the previous page; omit it for the first page.
	Cursor *string
	// Only rows that are not ordered.
	Failed *bool
}

func (q GetImportQuery) values() url.Values {
	query := url.Values{}
	set(query, "limit", q.Limit)
	set(query, "cursor", q.Cursor)
	set(query, "failed", q.Failed)
	return query
}

// GetImport: Look at an import: totals, progress, and a page of its rows with their errors and
// orders.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/imports/{id}
func (c *Client) GetImport(ctx context.Context, id string, query GetImportQuery, options ...CallOption) (*ImportDetail, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/imports/" + request.segment(id)
	return doJSON[ImportDetail](ctx, c, request, options)
}

// GetImportSeq iterates over the items of all pages of GetImport. An error ends it.
func (c *Client) GetImportSeq(ctx context.Context, id string, query GetImportQuery, options ...CallOption) iter.Seq2[ImportRow, error] {
	return sequence(func(cursor *string) ([]ImportRow, *string, error) {
		if cursor != nil {
			query.Cursor = cursor
		}
		page, err := c.GetImport(ctx, id, query, options...)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, nextCursor(page.HasMore, page.NextCursor), nil
	})
}

// OrderImport: Confirm the total that you saw, and have the orders placed in the background.
//
// Orders with an error are left out. Each order is placed at the price that was previewed: one that
// costs something else by then fails with `price_changed`. However often this is sent, and whatever
// breaks, no row is ordered twice.
//
// Requires the role `buyer`. Scope: `order`.
//
// POST /v1/imports/{id}/order
func (c *Client) OrderImport(ctx context.Context, id string, body ImportConfirmInput, options ...CallOption) (*Import, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/imports/" + request.segment(id) + "/order"
	return doJSON[Import](ctx, c, request, options)
}

// RequestOrderPayment: Request the payment of an order. Another person has to approve it.
//
// The request is for what the order costs now. If that changes before it is paid, the request is
// `superseded` and `payment_status` is `unpaid` again. Whoever approves it sees the `note`.
//
// Requires the role `buyer`. Scope: `pay_request`.
//
// POST /v1/orders/{id}/payment
func (c *Client) RequestOrderPayment(ctx context.Context, id string, body *PaymentInput, options ...CallOption) (*Payment, error) {
	request := call{method: "POST", keyed: true, media: "application/json"}
	request.path = "/v1/orders/" + request.segment(id) + "/payment"
	if body != nil {
		request.body = *body
	}
	return doJSON[Payment](ctx, c, request, options)
}

// WithdrawOrderPayment: Withdraw a payment request that is not approved or rejected yet.
//
// Requires the role `buyer`. Scope: `pay_request`.
//
// DELETE /v1/orders/{id}/payment
func (c *Client) WithdrawOrderPayment(ctx context.Context, id string, options ...CallOption) (*Payment, error) {
	request := call{method: "DELETE", keyed: true}
	request.path = "/v1/orders/" + request.segment(id) + "/payment"
	return doJSON[Payment](ctx, c, request, options)
}

// ListOrderPaymentsQuery has the parameters of ListOrderPayments.
type ListOrderPaymentsQuery struct {
	// The largest number of items.
	Limit *int
	// `next_cursor` of the previous page; omit it for the first page.
	Cursor *string
}

func (q ListOrderPaymentsQuery) values() url.Values {
	query := url.Values{}
	set(query, "limit", q.Limit)
	set(query, "cursor", q.Cursor)
	return query
}

// ListOrderPayments: List every request to pay an order, newest first.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/orders/{id}/payments
func (c *Client) ListOrderPayments(ctx context.Context, id string, query ListOrderPaymentsQuery, options ...CallOption) (*PaymentPage, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/orders/" + request.segment(id) + "/payments"
	return doJSON[PaymentPage](ctx, c, request, options)
}

// ListOrderPaymentsSeq iterates over the items of all pages of ListOrderPayments. An error ends it.
func (c *Client) ListOrderPaymentsSeq(ctx context.Context, id string, query ListOrderPaymentsQuery, options ...CallOption) iter.Seq2[Payment, error] {
	return sequence(func(cursor *string) ([]Payment, *string, error) {
		if cursor != nil {
			query.Cursor = cursor
		}
		page, err := c.ListOrderPayments(ctx, id, query, options...)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, nextCursor(page.HasMore, page.NextCursor), nil
	})
}

// RequestRefund: Request a refund from the seller, of all or a part.
//
// The refund is `requested` until the seller decides. `payment_status` becomes `partially_refunded`
// or `refunded` when the money is back.
//
// Requires the role `buyer`. Scope: `pay_request`.
//
// POST /v1/orders/{id}/refunds
func (c *Client) RequestRefund(ctx context.Context, id string, body RefundInput, options ...CallOption) (*Refund, error) {
	request := call{method: "POST", keyed: true, media: "application/json", body: body}
	request.path = "/v1/orders/" + request.segment(id) + "/refunds"
	return doJSON[Refund](ctx, c, request, options)
}

// ListRefunds: List every refund of an order, newest first.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/orders/{id}/refunds
func (c *Client) ListRefunds(ctx context.Context, id string, options ...CallOption) (*RefundPage, error) {
	request := call{method: "GET"}
	request.path = "/v1/orders/" + request.segment(id) + "/refunds"
	return doJSON[RefundPage](ctx, c, request, options)
}

// ListPaymentsQuery has the parameters of ListPayments.
type ListPaymentsQuery struct {
	// Any of these, by comma or repeated; the latest first. Without `status` and `order`, the queue:
	// `pending_approval`, the most urgent first.
	Status []RequestStatus
	// Requests to pay this order; the latest first.
	Order *string
	// The largest number of items.
	Limit *int
	// `next_cursor` of the previous page; omit it for the first page.
	Cursor *string
}

func (q ListPaymentsQuery) values() url.Values {
	query := url.Values{}
	setAll(query, "status", q.Status)
	set(query, "order", q.Order)
	set(query, "limit", q.Limit)
	set(query, "cursor", q.Cursor)
	return query
}

// ListPayments: List payments of all accounts, with their orders.
//
// Without a filter it is the queue: what waits for approval, the least time left before the
// platform closes the order first. With a filter, the newest come first.
//
// Requires the role `approver`. Scope: `read`.
//
// GET /v1/payments
func (c *Client) ListPayments(ctx context.Context, query ListPaymentsQuery, options ...CallOption) (*PaymentWithOrderPage, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/payments"
	return doJSON[PaymentWithOrderPage](ctx, c, request, options)
}

// ListPaymentsSeq iterates over the items of all pages of ListPayments. An error ends it.
func (c *Client) ListPaymentsSeq(ctx context.Context, query ListPaymentsQuery, options ...CallOption) iter.Seq2[PaymentWithOrder, error] {
	return sequence(func(cursor *string) ([]PaymentWithOrder, *string, error) {
		if cursor != nil {
			query.Cursor = cursor
		}
		page, err := c.ListPayments(ctx, query, options...)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, nextCursor(page.HasMore, page.NextCursor), nil
	})
}

// GetPayment: Get a payment request of any account, with its order.
//
// Requires the role `approver`. Scope: `read`.
//
// GET /v1/payments/{id}
func (c *Client) GetPayment(ctx context.Context, id string, options ...CallOption) (*PaymentWithOrder, error) {
	request := call{method: "GET"}
	request.path = "/v1/payments/" + request.segment(id)
	return doJSON[PaymentWithOrder](ctx, c, request, options)
}

// ApprovePayment: Approve a payment that another person requested.
//
// Send the `amount_cny` that you saw: if it is another by now, nothing is approved. What was
// approved is paid exactly once, and not at all if its amount changes first. While an operator has
// locked the account of the order, nothing of it can be approved.
//
// Requires the role `approver`. Not for API keys with scopes.
//
// POST /v1/payments/{id}/approve
func (c *Client) ApprovePayment(ctx context.Context, id string, body *ApproveInput, options ...CallOption) (*PaymentWithOrder, error) {
	request := call{method: "POST", keyed: true, media: "application/json"}
	request.path = "/v1/payments/" + request.segment(id) + "/approve"
	if body != nil {
		request.body = *body
	}
	return doJSON[PaymentWithOrder](ctx, c, request, options)
}

// RejectPayment: Reject a payment that another person requested, with a reason.
//
// Requires the role `approver`. Not for API keys with scopes.
//
// POST /v1/payments/{id}/reject
func (c *Client) RejectPayment(ctx context.Context, id string, body RejectInput, options ...CallOption) (*PaymentWithOrder, error) {
	request := call{method: "POST", keyed: true, media: "application/json", body: body}
	request.path = "/v1/payments/" + request.segment(id) + "/reject"
	return doJSON[PaymentWithOrder](ctx, c, request, options)
}

// AdvanceSandboxOrder: Move an order on a simulated platform, and return it after a sync.
//
// Everything that follows is real: the sync, the events, the webhooks.
//
// Requires the role `buyer`. Scope: `order`.
//
// POST /v1/sandbox/orders/{id}/advance
func (c *Client) AdvanceSandboxOrder(ctx context.Context, id string, body AdvanceInput, options ...CallOption) (*Order, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/sandbox/orders/" + request.segment(id) + "/advance"
	return doJSON[Order](ctx, c, request, options)
}

// ListEventsQuery has the parameters of ListEvents.
type ListEventsQuery struct {
	// Events of this order only.
	Order *string
	// Only these kinds, by comma.
	Event []string
	// `next_cursor` of the page before; left out: from the start.
	After *string
	// How many items at the most.
	Limit *int
}

func (q ListEventsQuery) values() url.Values {
	query := url.Values{}
	set(query, "order", q.Order)
	setAll(query, "event", q.Event)
	set(query, "after", q.After)
	set(query, "limit", q.Limit)
	return query
}

// ListEvents: Read your journal, oldest first.
//
// Each item is the exact body that webhooks get. The events of your account are numbered without
// gaps, in the order in which they were committed, and the cursor is the number of the last one you
// got. So it never skips an event, not even one that was being written while you read, and you can
// prove that you have them all: without filters, `first_number` of a page is one more than
// `last_number` of the page before. Events are kept for 30 days unless the operator set another
// time.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/events
func (c *Client) ListEvents(ctx context.Context, query ListEventsQuery, options ...CallOption) (*EventPage, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/events"
	return doJSON[EventPage](ctx, c, request, options)
}

// ListEventsSeq iterates over the items of all pages of ListEvents. An error ends it.
func (c *Client) ListEventsSeq(ctx context.Context, query ListEventsQuery, options ...CallOption) iter.Seq2[EventBody, error] {
	return sequence(func(cursor *string) ([]EventBody, *string, error) {
		if cursor != nil {
			query.After = cursor
		}
		page, err := c.ListEvents(ctx, query, options...)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, nextCursor(page.HasMore, &page.NextCursor), nil
	})
}

// StreamEventsQuery has the parameters of StreamEvents.
type StreamEventsQuery struct {
	// Events of this order only.
	Order *string
	// Only these kinds, by comma.
	Event []string
	// `next_cursor` of a page of `GET /v1/events`: begin there. Left out: begin with what is new.
	// `Last-Event-ID` outranks it.
	After *string
}

func (q StreamEventsQuery) values() url.Values {
	query := url.Values{}
	set(query, "order", q.Order)
	setAll(query, "event", q.Event)
	set(query, "after", q.After)
	return query
}

// StreamEvents: Receive your events as they happen, as server-sent events.
//
// No public address is needed. The response does not end by itself: each event is sent when it was
// committed, in the order of the journal. When the connection is lost, connect again with `Last-
// Event-ID`: no event is skipped or repeated. The first block has an `id` and no event, so that you
// can resume before you got one. A comment is sent every 15 seconds. Your account may have 8
// streams open. A stream ends within a second when its key is revoked, its session ends or the
// account is locked, and when the server stops: connect again.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/events/stream
func (c *Client) StreamEvents(ctx context.Context, query StreamEventsQuery, options ...CallOption) iter.Seq2[StreamedEvent, error] {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/events/stream"
	return c.follow(ctx, request, options)
}

// GetEvent: Look at one event, in the exact bytes that webhooks get.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/events/{id}
func (c *Client) GetEvent(ctx context.Context, id string, options ...CallOption) (*EventBody, error) {
	request := call{method: "GET"}
	request.path = "/v1/events/" + request.segment(id)
	return doJSON[EventBody](ctx, c, request, options)
}

// ListEventTypes: List the event types: what each means, its causes, and the body that is sent for
// each cause.
//
// An example has the fields, their order and the spelling of a real delivery.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/event-types
func (c *Client) ListEventTypes(ctx context.Context, options ...CallOption) (*EventTypePage, error) {
	request := call{method: "GET"}
	request.path = "/v1/event-types"
	return doJSON[EventTypePage](ctx, c, request, options)
}

// ExportOrdersQuery has the parameters of ExportOrders.
type ExportOrdersQuery struct {
	//
	Status []OrderStatus
	//
	PaymentStatus []PaymentStatus
	//
	Platform []string
	// Your own id; repeat it for several, since an id may hold a comma.
	ExternalID []string
	// The platform's id.
	OrderID []string
	//
	TrackingNumber []string
	// At or after.
	CreatedAfter *time.Time
	// Before.
	CreatedBefore *time.Time
	// At or after.
	UpdatedAfter *time.Time
	// Before.
	UpdatedBefore *time.Time
	// Begin the file with a byte order mark: some spreadsheet programs recognise UTF-8 only by it.
	BOM *bool
}

func (q ExportOrdersQuery) values() url.Values {
	query := url.Values{}
	setAll(query, "status", q.Status)
	setAll(query, "payment_status", q.PaymentStatus)
	setAll(query, "platform", q.Platform)
	setAll(query, "external_id", q.ExternalID)
	setAll(query, "order_id", q.OrderID)
	setAll(query, "tracking_number", q.TrackingNumber)
	set(query, "created_after", q.CreatedAfter)
	set(query, "created_before", q.CreatedBefore)
	set(query, "updated_after", q.UpdatedAfter)
	set(query, "updated_before", q.UpdatedBefore)
	set(query, "bom", q.BOM)
	return query
}

// ExportOrders: Export your orders as CSV, newest first: a row for each line of each order.
//
// The amounts of an order are in the row of its first line only, so that the sum of a column is
// right. The first row names the columns; read columns by name, since new ones may be added. Text
// that a spreadsheet would run as a formula begins with an apostrophe. If the connection closes
// before the end of the response, the file is incomplete.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/exports/orders
func (c *Client) ExportOrders(ctx context.Context, query ExportOrdersQuery, options ...CallOption) (io.ReadCloser, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/exports/orders"
	return c.doFile(ctx, request, options)
}

// ExportPaymentsQuery has the parameters of ExportPayments.
type ExportPaymentsQuery struct {
	// Any of these, by comma or repeated; the latest first. Without `status` and `order`, the queue:
	// `pending_approval`, the most urgent first.
	Status []RequestStatus
	// Requests to pay this order; the latest first.
	Order *string
	// Begin the file with a byte order mark: some spreadsheet programs recognise UTF-8 only by it.
	BOM *bool
}

func (q ExportPaymentsQuery) values() url.Values {
	query := url.Values{}
	setAll(query, "status", q.Status)
	set(query, "order", q.Order)
	set(query, "bom", q.BOM)
	return query
}

// ExportPayments: Export payments of all accounts as CSV, newest first; without a filter, all of
// them.
//
// Requires the role `approver`. Scope: `read`.
//
// GET /v1/exports/payments
func (c *Client) ExportPayments(ctx context.Context, query ExportPaymentsQuery, options ...CallOption) (io.ReadCloser, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/exports/payments"
	return c.doFile(ctx, request, options)
}

// ExportDeliveriesQuery has the parameters of ExportDeliveries.
type ExportDeliveriesQuery struct {
	//
	Outcome []Outcome
	// How the delivery as a whole ended: only attempts that ended one.
	Result []string
	//
	Event []string
	//
	Order *string
	//
	EventID *string
	//
	StatusCode []int
	// At or after.
	StartedAfter *time.Time
	// Before.
	StartedBefore *time.Time
	// Attempts of this webhook only; without it, of each webhook in turn.
	Webhook *string
	// Begin the file with a byte order mark: some spreadsheet programs recognise UTF-8 only by it.
	BOM *bool
}

func (q ExportDeliveriesQuery) values() url.Values {
	query := url.Values{}
	setAll(query, "outcome", q.Outcome)
	setAll(query, "result", q.Result)
	setAll(query, "event", q.Event)
	set(query, "order", q.Order)
	set(query, "event_id", q.EventID)
	setAll(query, "status_code", q.StatusCode)
	set(query, "started_after", q.StartedAfter)
	set(query, "started_before", q.StartedBefore)
	set(query, "webhook", q.Webhook)
	set(query, "bom", q.BOM)
	return query
}

// ExportDeliveries: Export attempts to deliver events as CSV, newest first.
//
// Without `webhook`, the attempts of each webhook follow each other.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/exports/deliveries
func (c *Client) ExportDeliveries(ctx context.Context, query ExportDeliveriesQuery, options ...CallOption) (io.ReadCloser, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/exports/deliveries"
	return c.doFile(ctx, request, options)
}

// ExportEventsQuery has the parameters of ExportEvents.
type ExportEventsQuery struct {
	// Events of this order only.
	Order *string
	// Only these kinds, by comma.
	Event []string
	// Begin the file with a byte order mark: some spreadsheet programs recognise UTF-8 only by it.
	BOM *bool
}

func (q ExportEventsQuery) values() url.Values {
	query := url.Values{}
	set(query, "order", q.Order)
	setAll(query, "event", q.Event)
	set(query, "bom", q.BOM)
	return query
}

// ExportEvents: Export your journal as CSV, oldest first.
//
// Requires the role `buyer`. Scope: `read`.
//
// GET /v1/exports/events
func (c *Client) ExportEvents(ctx context.Context, query ExportEventsQuery, options ...CallOption) (io.ReadCloser, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/exports/events"
	return c.doFile(ctx, request, options)
}

// ExportAuditQuery has the parameters of ExportAudit.
type ExportAuditQuery struct {
	// Entries about this account.
	Account *string
	// Only these actions, by comma or repeated: `account.locked`, …
	Action []string
	// At or after.
	AtAfter *time.Time
	// Before.
	AtBefore *time.Time
	// Begin the file with a byte order mark: some spreadsheet programs recognise UTF-8 only by it.
	BOM *bool
}

func (q ExportAuditQuery) values() url.Values {
	query := url.Values{}
	set(query, "account", q.Account)
	setAll(query, "action", q.Action)
	set(query, "at_after", q.AtAfter)
	set(query, "at_before", q.AtBefore)
	set(query, "bom", q.BOM)
	return query
}

// ExportAudit: Export the audit log as CSV, newest first.
//
// Requires the role `operator`. Not for API keys with scopes.
//
// GET /v1/exports/audit
func (c *Client) ExportAudit(ctx context.Context, query ExportAuditQuery, options ...CallOption) (io.ReadCloser, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/exports/audit"
	return c.doFile(ctx, request, options)
}

// ReceiveNotice: Take a push from a marketplace, in its own format and with its own signature.
//
// It is only ever a hint: the orders that it names are read through the marketplace's API, unless
// it tells nothing new, as a notice about our own call.
//
// POST /v1/notices/{platform}
func (c *Client) ReceiveNotice(ctx context.Context, platform string, options ...CallOption) (*Notice, error) {
	request := call{method: "POST"}
	request.path = "/v1/notices/" + request.segment(platform)
	return doJSON[Notice](ctx, c, request, options)
}

// ListAccountsQuery has the parameters of ListAccounts.
type ListAccountsQuery struct {
	// The largest number of items.
	Limit *int
	// `next_cursor` of the previous page; omit it for the first page.
	Cursor *string
	// Exactly this e-mail.
	Email *string
	// Any of these, by comma or repeated.
	Role []Role
	// Any of these, by comma or repeated.
	Plan []Plan
	// Only locked ones, or only others.
	Locked *bool
}

func (q ListAccountsQuery) values() url.Values {
	query := url.Values{}
	set(query, "limit", q.Limit)
	set(query, "cursor", q.Cursor)
	set(query, "email", q.Email)
	setAll(query, "role", q.Role)
	setAll(query, "plan", q.Plan)
	set(query, "locked", q.Locked)
	return query
}

// ListAccounts: List accounts, newest first.
//
// Requires the role `operator`. Not for API keys with scopes.
//
// GET /v1/admin/accounts
func (c *Client) ListAccounts(ctx context.Context, query ListAccountsQuery, options ...CallOption) (*AdminAccountPage, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/admin/accounts"
	return doJSON[AdminAccountPage](ctx, c, request, options)
}

// ListAccountsSeq iterates over the items of all pages of ListAccounts. An error ends it.
func (c *Client) ListAccountsSeq(ctx context.Context, query ListAccountsQuery, options ...CallOption) iter.Seq2[AdminAccount, error] {
	return sequence(func(cursor *string) ([]AdminAccount, *string, error) {
		if cursor != nil {
			query.Cursor = cursor
		}
		page, err := c.ListAccounts(ctx, query, options...)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, nextCursor(page.HasMore, page.NextCursor), nil
	})
}

// CreateAccount: Create an account.
//
// Without `password`, create a password link next and send it to the owner.
//
// Requires the role `operator`. Not for API keys with scopes.
//
// POST /v1/admin/accounts
func (c *Client) CreateAccount(ctx context.Context, body NewAccountInput, options ...CallOption) (*AdminAccount, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/admin/accounts"
	return doJSON[AdminAccount](ctx, c, request, options)
}

// GetAccount: One account.
//
// Requires the role `operator`. Not for API keys with scopes.
//
// GET /v1/admin/accounts/{id}
func (c *Client) GetAccount(ctx context.Context, id string, options ...CallOption) (*AdminAccount, error) {
	request := call{method: "GET"}
	request.path = "/v1/admin/accounts/" + request.segment(id)
	return doJSON[AdminAccount](ctx, c, request, options)
}

// LockAccount: Lock an account.
//
// From this response on every credential of it gets 403 `account_locked`, and its sessions have
// ended. No payment of it can be approved (409 `account_locked`), and an approved payment that was
// not sent to the marketplace yet waits for the unlock. Its orders are still synced and its
// deliveries still sent.
//
// Requires the role `operator`. Not for API keys with scopes.
//
// POST /v1/admin/accounts/{id}/lock
func (c *Client) LockAccount(ctx context.Context, id string, body LockInput, options ...CallOption) (*AdminAccount, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/admin/accounts/" + request.segment(id) + "/lock"
	return doJSON[AdminAccount](ctx, c, request, options)
}

// UnlockAccount: Unlock an account: its API keys work again at once, its people log in again.
//
// Approved payments are made now. A stop after failed logins ends as well.
//
// Requires the role `operator`. Not for API keys with scopes.
//
// POST /v1/admin/accounts/{id}/unlock
func (c *Client) UnlockAccount(ctx context.Context, id string, options ...CallOption) (*AdminAccount, error) {
	request := call{method: "POST"}
	request.path = "/v1/admin/accounts/" + request.segment(id) + "/unlock"
	return doJSON[AdminAccount](ctx, c, request, options)
}

// ChangePlan: Put an account on another plan; its next request has the new limits.
//
// Requires the role `operator`. Not for API keys with scopes.
//
// POST /v1/admin/accounts/{id}/plan
func (c *Client) ChangePlan(ctx context.Context, id string, body PlanInput, options ...CallOption) (*AdminAccount, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/admin/accounts/" + request.segment(id) + "/plan"
	return doJSON[AdminAccount](ctx, c, request, options)
}

// ChangeRoles: Give an account exactly these roles, from its next request on.
//
// Requires the role `operator`. Not for API keys with scopes.
//
// POST /v1/admin/accounts/{id}/roles
func (c *Client) ChangeRoles(ctx context.Context, id string, body RolesInput, options ...CallOption) (*AdminAccount, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/admin/accounts/" + request.segment(id) + "/roles"
	return doJSON[AdminAccount](ctx, c, request, options)
}

// MakePasswordLink: Create a one-time link with which the account's owner chooses a password.
//
// It works once, for 24 hours, and replaces any earlier link of the account.
//
// Requires the role `operator`. Not for API keys with scopes.
//
// POST /v1/admin/accounts/{id}/password-link
func (c *Client) MakePasswordLink(ctx context.Context, id string, options ...CallOption) (*PasswordLink, error) {
	request := call{method: "POST"}
	request.path = "/v1/admin/accounts/" + request.segment(id) + "/password-link"
	return doJSON[PasswordLink](ctx, c, request, options)
}

// ListAllOrdersQuery has the parameters of ListAllOrders.
type ListAllOrdersQuery struct {
	//
	Status []OrderStatus
	//
	PaymentStatus []PaymentStatus
	//
	Platform []string
	// Your own id; repeat it for several, since an id may hold a comma.
	ExternalID []string
	// The platform's id.
	OrderID []string
	//
	TrackingNumber []string
	// At or after.
	CreatedAfter *time.Time
	// Before.
	CreatedBefore *time.Time
	// At or after.
	UpdatedAfter *time.Time
	// Before.
	UpdatedBefore *time.Time
	// The latest first.
	Sort *string
	// The largest number of items.
	Limit *int
	// `next_cursor` of the previous page; omit it for the first page.
	Cursor *string
	// Orders of this account only.
	Account *string
}

func (q ListAllOrdersQuery) values() url.Values {
	query := url.Values{}
	setAll(query, "status", q.Status)
	setAll(query, "payment_status", q.PaymentStatus)
	setAll(query, "platform", q.Platform)
	setAll(query, "external_id", q.ExternalID)
	setAll(query, "order_id", q.OrderID)
	setAll(query, "tracking_number", q.TrackingNumber)
	set(query, "created_after", q.CreatedAfter)
	set(query, "created_before", q.CreatedBefore)
	set(query, "updated_after", q.UpdatedAfter)
	set(query, "updated_before", q.UpdatedBefore)
	set(query, "sort", q.Sort)
	set(query, "limit", q.Limit)
	set(query, "cursor", q.Cursor)
	set(query, "account", q.Account)
	return query
}

// ListAllOrders: List the orders of every account, or of one, newest first.
//
// Requires the role `operator`. Not for API keys with scopes.
//
// GET /v1/admin/orders
func (c *Client) ListAllOrders(ctx context.Context, query ListAllOrdersQuery, options ...CallOption) (*OrderPage, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/admin/orders"
	return doJSON[OrderPage](ctx, c, request, options)
}

// ListAllOrdersSeq iterates over the items of all pages of ListAllOrders. An error ends it.
func (c *Client) ListAllOrdersSeq(ctx context.Context, query ListAllOrdersQuery, options ...CallOption) iter.Seq2[Order, error] {
	return sequence(func(cursor *string) ([]Order, *string, error) {
		if cursor != nil {
			query.Cursor = cursor
		}
		page, err := c.ListAllOrders(ctx, query, options...)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, nextCursor(page.HasMore, page.NextCursor), nil
	})
}

// ListAllWebhooksQuery has the parameters of ListAllWebhooks.
type ListAllWebhooksQuery struct {
	// The largest number of items.
	Limit *int
	// `next_cursor` of the previous page; omit it for the first page.
	Cursor *string
	// Any of these, by comma or repeated.
	Health []Health
}

func (q ListAllWebhooksQuery) values() url.Values {
	query := url.Values{}
	set(query, "limit", q.Limit)
	set(query, "cursor", q.Cursor)
	setAll(query, "health", q.Health)
	return query
}

// ListAllWebhooks: List the subscriptions of every account, newest first.
//
// Requires the role `operator`. Not for API keys with scopes.
//
// GET /v1/admin/webhooks
func (c *Client) ListAllWebhooks(ctx context.Context, query ListAllWebhooksQuery, options ...CallOption) (*AdminSubscriptionPage, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/admin/webhooks"
	return doJSON[AdminSubscriptionPage](ctx, c, request, options)
}

// ListAllWebhooksSeq iterates over the items of all pages of ListAllWebhooks. An error ends it.
func (c *Client) ListAllWebhooksSeq(ctx context.Context, query ListAllWebhooksQuery, options ...CallOption) iter.Seq2[AdminSubscription, error] {
	return sequence(func(cursor *string) ([]AdminSubscription, *string, error) {
		if cursor != nil {
			query.Cursor = cursor
		}
		page, err := c.ListAllWebhooks(ctx, query, options...)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, nextCursor(page.HasMore, page.NextCursor), nil
	})
}

// ListQueue: List what waits to be delivered, by subscription, those first that have waited
// longest.
//
// Requires the role `operator`. Not for API keys with scopes.
//
// GET /v1/admin/queue
func (c *Client) ListQueue(ctx context.Context, options ...CallOption) (*QueuePage, error) {
	request := call{method: "GET"}
	request.path = "/v1/admin/queue"
	return doJSON[QueuePage](ctx, c, request, options)
}

// GetPlatformConnection: Our connection to a marketplace. Secrets and tokens are never shown.
//
// Requires the role `operator`. Not for API keys with scopes.
//
// GET /v1/admin/platforms/{platform}
func (c *Client) GetPlatformConnection(ctx context.Context, platform string, options ...CallOption) (*Connection, error) {
	request := call{method: "GET"}
	request.path = "/v1/admin/platforms/" + request.segment(platform)
	return doJSON[Connection](ctx, c, request, options)
}

// ConnectPlatform: Set a marketplace's application, and authorise it by a code or by tokens.
//
// Fields that are left out keep their value. Secrets are encrypted at rest and never shown.
//
// Requires the role `operator`. Not for API keys with scopes.
//
// POST /v1/admin/platforms/{platform}
func (c *Client) ConnectPlatform(ctx context.Context, platform string, body CredentialsInput, options ...CallOption) (*Connection, error) {
	request := call{method: "POST", media: "application/json", body: body}
	request.path = "/v1/admin/platforms/" + request.segment(platform)
	return doJSON[Connection](ctx, c, request, options)
}

// DisconnectPlatform: Delete a marketplace's credentials.
//
// Requires the role `operator`. Not for API keys with scopes.
//
// DELETE /v1/admin/platforms/{platform}
func (c *Client) DisconnectPlatform(ctx context.Context, platform string, options ...CallOption) error {
	request := call{method: "DELETE"}
	request.path = "/v1/admin/platforms/" + request.segment(platform)
	return c.do(ctx, request, nil, options)
}

// ListAuditQuery has the parameters of ListAudit.
type ListAuditQuery struct {
	// Entries about this account.
	Account *string
	// Only these actions, by comma or repeated: `account.locked`, …
	Action []string
	// At or after.
	AtAfter *time.Time
	// Before.
	AtBefore *time.Time
	// The largest number of items.
	Limit *int
	// `next_cursor` of the previous page; omit it for the first page.
	Cursor *string
}

func (q ListAuditQuery) values() url.Values {
	query := url.Values{}
	set(query, "account", q.Account)
	setAll(query, "action", q.Action)
	set(query, "at_after", q.AtAfter)
	set(query, "at_before", q.AtBefore)
	set(query, "limit", q.Limit)
	set(query, "cursor", q.Cursor)
	return query
}

// ListAudit: List changes of permissions and decisions about payments, newest first.
//
// Requires the role `operator`. Not for API keys with scopes.
//
// GET /v1/admin/audit
func (c *Client) ListAudit(ctx context.Context, query ListAuditQuery, options ...CallOption) (*AuditPage, error) {
	request := call{method: "GET", query: query.values()}
	request.path = "/v1/admin/audit"
	return doJSON[AuditPage](ctx, c, request, options)
}

// ListAuditSeq iterates over the items of all pages of ListAudit. An error ends it.
func (c *Client) ListAuditSeq(ctx context.Context, query ListAuditQuery, options ...CallOption) iter.Seq2[Audit, error] {
	return sequence(func(cursor *string) ([]Audit, *string, error) {
		if cursor != nil {
			query.Cursor = cursor
		}
		page, err := c.ListAudit(ctx, query, options...)
		if err != nil {
			return nil, nil, err
		}
		return page.Items, nextCursor(page.HasMore, page.NextCursor), nil
	})
}

// Healthz: Whether the process is alive.
//
// GET /healthz
func (c *Client) Healthz(ctx context.Context, options ...CallOption) (*Readiness, error) {
	request := call{method: "GET"}
	request.path = "/healthz"
	return doJSON[Readiness](ctx, c, request, options)
}

// Readyz: Whether the database acknowledges a change, with every migration and tomorrow's
// partitions.
//
// Otherwise 503 says what is missing. The change is tried at most once a second.
//
// GET /readyz
func (c *Client) Readyz(ctx context.Context, options ...CallOption) (*Readiness, error) {
	request := call{method: "GET"}
	request.path = "/readyz"
	return doJSON[Readiness](ctx, c, request, options)
}
