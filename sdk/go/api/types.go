// Code generated from the OpenAPI document by `make client`. DO NOT EDIT.

package api

import "time"

// Account: An account.
type Account struct {
	//
	ID string `json:"id"`
	// ASCII only; case does not matter.
	Email string `json:"email"`
	// What people call it.
	Name string `json:"name"`
	//
	Roles []Role `json:"roles"`
	//
	Plan Plan `json:"plan"`
	//
	CreatedAt time.Time `json:"created_at"`
}

// Address: Where it is shipped to.
type Address struct {
	//
	Name string `json:"name"`
	//
	Phone string `json:"phone"`
	//
	Province string `json:"province"`
	//
	City string `json:"city"`
	//
	District string `json:"district"`
	//
	Detail string `json:"detail"`
	//
	PostalCode *string `json:"postal_code"`
}

// AddressInput: Where to ship to, in China.
type AddressInput struct {
	//
	Name string `json:"name"`
	//
	Phone string `json:"phone"`
	//
	Province string `json:"province"`
	//
	City string `json:"city"`
	//
	District string `json:"district"`
	//
	Detail string `json:"detail"`
	//
	PostalCode *string `json:"postal_code,omitempty"`
}

// AddressWarning: What is unusual about the address; the order can be placed all the same.
type AddressWarning struct {
	//
	Pointer string `json:"pointer"`
	//
	Code string `json:"code"`
	//
	Message string `json:"message"`
}

// AdminAccount: An account as operators see it.
type AdminAccount struct {
	//
	ID string `json:"id"`
	// ASCII only; case does not matter.
	Email string `json:"email"`
	// What people call it.
	Name string `json:"name"`
	//
	Roles []Role `json:"roles"`
	//
	Plan Plan `json:"plan"`
	//
	CreatedAt time.Time `json:"created_at"`
	//
	LockedAt *time.Time `json:"locked_at"`
	//
	LockReason *string `json:"lock_reason"`
	//
	UpdatedAt time.Time `json:"updated_at"`
}

// AdminAccountPage: One page of a list.
type AdminAccountPage struct {
	//
	Items []AdminAccount `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// AdminSubscription: A subscription, with the account that it belongs to.
type AdminSubscription struct {
	//
	ID string `json:"id"`
	// HTTPS in production; `http` and localhost in development too.
	URL string `json:"url"`
	//
	Events []string `json:"events"`
	//
	IsActive bool `json:"is_active"`
	//
	Description string `json:"description"`
	// Whether missed events are replayed automatically when the endpoint works again.
	CatchUp bool `json:"catch_up"`
	// The names of its own headers; values are not shown.
	Headers map[string]string `json:"headers"`
	// Whether the headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`)
	// are sent as well.
	StandardWebhooks bool `json:"standard_webhooks"`
	//
	Filter *Filter `json:"filter"`
	// `failing`: switched off, since all deliveries failed for five days.
	DisabledReason *string `json:"disabled_reason"`
	//
	Health Health `json:"health"`
	//
	FailingSince *time.Time `json:"failing_since"`
	//
	CreatedAt time.Time `json:"created_at"`
	//
	UpdatedAt time.Time `json:"updated_at"`
	//
	SecretRotatedAt *time.Time `json:"secret_rotated_at"`
	//
	AccountID string `json:"account_id"`
}

// AdminSubscriptionPage: One page of a list.
type AdminSubscriptionPage struct {
	//
	Items []AdminSubscription `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// AdvanceInput: Where to move an order on a simulated platform.
type AdvanceInput struct {
	//
	To string `json:"to"`
	// With `price_changed`: what it costs from now on.
	TotalCNY *float64 `json:"total_cny,omitempty"`
}

// ApproveInput: The amount that the approver saw.
type ApproveInput struct {
	// If the order costs something else: 409 `amount_changed`.
	AmountCNY *float64 `json:"amount_cny,omitempty"`
}

// AttemptError: Why an attempt did not deliver.
type AttemptError struct {
	//
	Code string `json:"code"`
	//
	Message string `json:"message"`
}

// AttemptRequest: What was sent.
type AttemptRequest struct {
	//
	URL *string `json:"url"`
	// Empty where nothing is known to have been sent. The values of headers that the subscription adds
	// are masked.
	Headers []Header `json:"headers"`
	// Null when the event is no longer kept.
	Body *string `json:"body"`
}

// AttemptResponse: What came back: the headers, and the first 4 KiB of the body.
type AttemptResponse struct {
	//
	StatusCode int `json:"status_code"`
	//
	Headers []Header `json:"headers"`
	//
	Body string `json:"body"`
}

// Audit: One act: who did what to whom, when and from where.
type Audit struct {
	//
	ID string `json:"id"`
	//
	At time.Time `json:"at"`
	//
	Action string `json:"action"`
	// An e-mail, or `command line`.
	Actor string `json:"actor"`
	//
	ActorAccount *string `json:"actor_account"`
	// The API key or session that was used.
	Credential *string `json:"credential"`
	// The program that acted, as it called itself (`X-Agent-Name`).
	Agent *string `json:"agent"`
	//
	Address *string `json:"address"`
	//
	RequestID *string `json:"request_id"`
	// The account that it concerns.
	Account *string `json:"account"`
	//
	Subject string `json:"subject"`
	//
	Details map[string]any `json:"details"`
}

// AuditPage: One page of a list.
type AuditPage struct {
	//
	Items []Audit `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// Capability: What a marketplace can be asked to do. More values may be added later: accept unknown
// values.
type Capability string

// The values of Capability; more may be added.
const (
	CapabilityCancel      Capability = "cancel"
	CapabilityCreate      Capability = "create"
	CapabilityDetail      Capability = "detail"
	CapabilityImageSearch Capability = "image_search"
	CapabilityNotices     Capability = "notices"
	CapabilityPayAuto     Capability = "pay_auto"
	CapabilityPayLink     Capability = "pay_link"
	CapabilityPreview     Capability = "preview"
	CapabilityRefund      Capability = "refund"
	CapabilitySearch      Capability = "search"
)

// Cart: The cart, in the order in which its lines were added.
type Cart struct {
	//
	Items []CartItem `json:"items"`
	// The sum of all quantities.
	Pieces int `json:"pieces"`
	// What the pieces cost at the prices that were seen, without freight and discounts; null if a price
	// is unknown. A preview has the exact amounts.
	GoodsAmountCNY *float64 `json:"goods_amount_cny"`
}

// CartItem: A line of the cart: a product or variant, as it was seen when it was added.
type CartItem struct {
	//
	ID string `json:"id"`
	// `sandbox`, `alibaba` (or `1688`), `taobao`.
	Platform string `json:"platform"`
	//
	ProductID string `json:"product_id"`
	//
	SKUID *string `json:"sku_id"`
	//
	Quantity int `json:"quantity"`
	//
	Title *string `json:"title"`
	//
	TitleTranslated *string `json:"title_translated"`
	//
	ImageURL *string `json:"image_url"`
	//
	Attributes map[string]string `json:"attributes"`
	// What one piece cost, without freight and discounts.
	UnitPriceCNY *float64 `json:"unit_price_cny"`
	//
	Seller Seller `json:"seller"`
	//
	CreatedAt time.Time `json:"created_at"`
	//
	UpdatedAt time.Time `json:"updated_at"`
}

// CartItemInput: What to add to the cart. `sku_id` is needed where the product has variants.
type CartItemInput struct {
	//
	ProductID string `json:"product_id"`
	//
	Quantity int `json:"quantity"`
	//
	SKUID *string `json:"sku_id,omitempty"`
	// `sandbox`, `alibaba` (or `1688`), `taobao`.
	Platform string `json:"platform"`
}

// CartItemPatch: What to change about a line of the cart.
type CartItemPatch struct {
	//
	Quantity int `json:"quantity"`
}

// CartOrder: The result of ordering from the cart, group by group.
type CartOrder struct {
	//
	Groups []OrderedGroup `json:"groups"`
	// Whether every group has its order. If not, a repeat with the same Idempotency-Key orders what is
	// missing.
	Complete bool `json:"complete"`
}

// CartPreview: What the groups would cost now; the sum leaves out groups with an error.
type CartPreview struct {
	//
	Groups []GroupPreview `json:"groups"`
	// In CNY, at most two decimals.
	TotalAmountCNY float64 `json:"total_amount_cny"`
}

// CartSelectionInput: What of the cart to preview or to order, and where to ship it.
type CartSelectionInput struct {
	// Where to ship to.
	Address *AddressInput `json:"address,omitempty"`
	// An address of your address book, instead of `address`.
	AddressID *string `json:"address_id,omitempty"`
	// The ids of lines of your cart; all of its lines if none are named.
	Lines []string `json:"lines,omitempty"`
}

// Change: A change of an order.
type Change struct {
	//
	Version int `json:"version"`
	//
	At time.Time `json:"at"`
	// `accepted`, `create`, `sync`, `pay`, `cancel`, `payment_requested`, `payment_approved`,
	// `refund_requested`, …
	Cause string `json:"cause"`
	// Who asked for it; null: the platform, or a job.
	By *Person `json:"by"`
	// Each field of the order that changed, `from` and `to`.
	Changes map[string]any `json:"changes"`
	// The events that it caused.
	Events []string `json:"events"`
}

// ChangePage: One page of a list.
type ChangePage struct {
	//
	Items []Change `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// CloseReason: Who or what closed an order. More values may be added later: accept unknown values.
type CloseReason string

// The values of CloseReason; more may be added.
const (
	CloseReasonBuyer    CloseReason = "buyer"
	CloseReasonOther    CloseReason = "other"
	CloseReasonPlatform CloseReason = "platform"
	CloseReasonSeller   CloseReason = "seller"
	CloseReasonTimeout  CloseReason = "timeout"
)

// Connection: Our connection to a marketplace, as operators see it; secrets are never shown.
type Connection struct {
	// `sandbox`, `alibaba` (or `1688`), `taobao`.
	Platform string `json:"platform"`
	//
	AppKey string `json:"app_key"`
	// More values may be added later: accept unknown values.
	Connection string `json:"connection"`
	// The account that authorised us.
	Owner *string `json:"owner"`
	//
	AccessExpiresAt *time.Time `json:"access_expires_at"`
	//
	RefreshExpiresAt *time.Time `json:"refresh_expires_at"`
	// Why the last token refresh failed.
	Failure *string `json:"failure"`
	// Open it, authorise, and send the `code` and `state` it redirects with.
	AuthorizeURL string `json:"authorize_url"`
}

// CredentialsInput: Credentials to set. Send the application once, then `code` and `state`, or
// tokens.
//
//	The page at `authorize_url` redirects with both. The state is valid for 30 minutes, once, and
//	only with the session or API key that requested the `authorize_url`.
type CredentialsInput struct {
	//
	AppKey *string `json:"app_key,omitempty"`
	//
	AppSecret *string `json:"app_secret,omitempty"`
	//
	Code *string `json:"code,omitempty"`
	//
	State *string `json:"state,omitempty"`
	//
	RedirectURI *string `json:"redirect_uri,omitempty"`
	//
	AccessToken *string `json:"access_token,omitempty"`
	//
	RefreshToken *string `json:"refresh_token,omitempty"`
}

// Delivery: One attempt.
type Delivery struct {
	// The `X-Service-Delivery` that the endpoint received.
	ID string `json:"id"`
	//
	EventID string `json:"event_id"`
	// More values may be added later: accept unknown values.
	Event string `json:"event"`
	//
	Order *string `json:"order"`
	//
	Attempt int `json:"attempt"`
	//
	Trigger DeliveryTrigger `json:"trigger"`
	//
	Outcome Outcome `json:"outcome"`
	// Whether the delivery ended with this attempt.
	Final bool `json:"final"`
	// Whether its result came after its lease had expired.
	Late bool `json:"late"`
	//
	StatusCode *int `json:"status_code"`
	//
	Error *AttemptError `json:"error"`
	//
	StartedAt time.Time `json:"started_at"`
	//
	DurationMs *int `json:"duration_ms"`
	//
	NextAttemptAt *time.Time `json:"next_attempt_at"`
}

// DeliveryDetail: One attempt, with what was sent and what came back.
type DeliveryDetail struct {
	// The `X-Service-Delivery` that the endpoint received.
	ID string `json:"id"`
	//
	EventID string `json:"event_id"`
	// More values may be added later: accept unknown values.
	Event string `json:"event"`
	//
	Order *string `json:"order"`
	//
	Attempt int `json:"attempt"`
	//
	Trigger DeliveryTrigger `json:"trigger"`
	//
	Outcome Outcome `json:"outcome"`
	// Whether the delivery ended with this attempt.
	Final bool `json:"final"`
	// Whether its result came after its lease had expired.
	Late bool `json:"late"`
	//
	StatusCode *int `json:"status_code"`
	//
	Error *AttemptError `json:"error"`
	//
	StartedAt time.Time `json:"started_at"`
	//
	DurationMs *int `json:"duration_ms"`
	//
	NextAttemptAt *time.Time `json:"next_attempt_at"`
	//
	Request AttemptRequest `json:"request"`
	//
	Response *AttemptResponse `json:"response"`
}

// DeliveryPage: One page of a list.
type DeliveryPage struct {
	//
	Items []Delivery `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// DeliveryTrigger: Why something is delivered. More values may be added later: accept unknown
// values.
type DeliveryTrigger string

// The values of DeliveryTrigger; more may be added.
const (
	DeliveryTriggerEvent     DeliveryTrigger = "event"
	DeliveryTriggerRecover   DeliveryTrigger = "recover"
	DeliveryTriggerRedeliver DeliveryTrigger = "redeliver"
	DeliveryTriggerTest      DeliveryTrigger = "test"
)

// Diff: Orders that differ from what the caller has, as they are now, and ids of none of theirs.
type Diff struct {
	//
	Orders []Order `json:"orders"`
	// No orders of yours.
	Unknown []string `json:"unknown"`
}

// DiffInput: The orders that the caller has, and when they last changed there.
type DiffInput struct {
	//
	Orders []KnownOrder `json:"orders"`
}

// EventBody: The body of every delivery, and of an item of the journal.
type EventBody struct {
	// The same in every delivery of this event: de-duplicate by it.
	ID string `json:"id"`
	// More values may be added later: accept unknown values.
	Event string `json:"event"`
	//
	CreatedAt time.Time `json:"created_at"`
	//
	Data EventData `json:"data"`
}

// EventCause: Something that causes an event.
type EventCause struct {
	//
	Cause string `json:"cause"`
	//
	Description string `json:"description"`
	// The body of a delivery for this cause.
	Example EventBody `json:"example"`
}

// EventData: What the event is about.
type EventData struct {
	//
	Order OrderNews `json:"order"`
}

// EventPage: A stretch of the journal, oldest first.
type EventPage struct {
	//
	Items []EventBody `json:"items"`
	// The number of the first item in your journal; null if there is none.
	FirstNumber *int `json:"first_number"`
	// The number of the last item. Numbers rise by exactly one: without filters a page is complete if
	// `last_number - first_number + 1` is the number of its items.
	LastNumber *int `json:"last_number"`
	// Whether more are there already.
	HasMore bool `json:"has_more"`
	// Send it as `after` to go on from here, now or later.
	NextCursor string `json:"next_cursor"`
}

// EventType: A kind of event.
type EventType struct {
	// More values may be added later: accept unknown values.
	Event string `json:"event"`
	//
	Description string `json:"description"`
	//
	Causes []EventCause `json:"causes"`
}

// EventTypePage: One page of a list.
type EventTypePage struct {
	//
	Items []EventType `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// Explain: What became of an event at a subscription.
type Explain struct {
	//
	EventID string `json:"event_id"`
	// More values may be added later: accept unknown values.
	Verdict string `json:"verdict"`
	//
	Explanation string `json:"explanation"`
	//
	Attempts []Delivery `json:"attempts"`
}

// Failure: Why it was rejected for good.
type Failure struct {
	//
	Code string `json:"code"`
	//
	Message string `json:"message"`
}

// Filter: Which events are delivered, by their order; null: any.
type Filter struct {
	//
	Platforms []string `json:"platforms"`
	//
	Statuses []string `json:"statuses"`
}

// FilterInput: Which events to deliver, by their order; an empty filter leaves nothing out.
type FilterInput struct {
	//
	Platforms []string `json:"platforms,omitempty"`
	//
	Statuses []string `json:"statuses,omitempty"`
}

// GroupPreview: What a group would cost now, or the error that its preview has.
type GroupPreview struct {
	// `sandbox`, `alibaba` (or `1688`), `taobao`.
	Platform string `json:"platform"`
	// Null where the lines have several, or it is not known.
	Seller Seller `json:"seller"`
	//
	Items []CartItem `json:"items"`
	// Null if the group has no error.
	Error *GroupProblem `json:"error"`
	// Null if there is an error.
	Preview *Preview `json:"preview"`
}

// GroupProblem: Why a group was not previewed or ordered, as the same order alone would be
// answered.
type GroupProblem struct {
	//
	Code string `json:"code"`
	//
	Title string `json:"title"`
	// The HTTP status that this error has.
	Status int `json:"status"`
	//
	Detail string `json:"detail"`
	//
	UnavailableItems []Unavailable `json:"unavailable_items"`
	// In how many seconds to try again.
	RetryAfter *int `json:"retry_after"`
}

// Header: One header line. Headers are listed in their order, and a repeated name is there twice.
type Header struct {
	//
	Name string `json:"name"`
	//
	Value string `json:"value"`
}

// Health: How an endpoint does. More values may be added later: accept unknown values.
type Health string

// The values of Health; more may be added.
const (
	HealthDisabled Health = "disabled"
	HealthFailing  Health = "failing"
	HealthOk       Health = "ok"
)

// ImageSearch: A page of products that look like a picture.
type ImageSearch struct {
	//
	Items []Offer `json:"items"`
	//
	Paginate Paginate `json:"paginate"`
	// Send it instead of `image` for other pages of this search.
	ImageID string `json:"image_id"`
}

// ImageSearchInput: A search by a picture: send `image` once, then its `image_id` for other pages
// and filters.
type ImageSearchInput struct {
	// `sandbox`, `alibaba` (or `1688`), `taobao`.
	Platform string `json:"platform"`
	//
	Page *int `json:"page,omitempty"`
	//
	Size *int `json:"size,omitempty"`
	//
	Sort *Sort `json:"sort,omitempty"`
	//
	MinPriceCNY *float64 `json:"min_price_cny,omitempty"`
	//
	MaxPriceCNY *float64 `json:"max_price_cny,omitempty"`
	// The language of translations.
	Lang *string `json:"lang,omitempty"`
	// A JPEG, PNG or WebP picture in base64, 3 MiB at most.
	Image *string `json:"image,omitempty"`
	// That of an earlier search by your account at this marketplace.
	ImageID *string `json:"image_id,omitempty"`
}

// Import: An import: a file with many orders, and how far it has come.
type Import struct {
	//
	ID string `json:"id"`
	//
	FileName string `json:"file_name"`
	// `checking`: previewed with the platforms; `ready`: to be confirmed; `ordering`; `done`.
	Status ImportStatus `json:"status"`
	// The column of each field, by its name in the file.
	Columns map[string]string `json:"columns"`
	//
	UnusedColumns []string `json:"unused_columns"`
	//
	Counts ImportCounts `json:"counts"`
	// In CNY, at most two decimals.
	GoodsAmountCNY float64 `json:"goods_amount_cny"`
	// In CNY, at most two decimals.
	FreightCNY float64 `json:"freight_cny"`
	// In CNY, at most two decimals.
	DiscountCNY float64 `json:"discount_cny"`
	// Of the orders that can be placed, or were placed.
	TotalAmountCNY float64 `json:"total_amount_cny"`
	//
	ConfirmedTotalCNY *float64 `json:"confirmed_total_cny"`
	//
	CreatedAt time.Time `json:"created_at"`
	//
	ConfirmedAt *time.Time `json:"confirmed_at"`
	//
	EndedAt *time.Time `json:"ended_at"`
}

// ImportConfirmInput: The total that the import showed.
type ImportConfirmInput struct {
	// If the import costs something else, nothing is ordered: 409.
	ExpectedTotalCNY float64 `json:"expected_total_cny"`
}

// ImportCounts: How many rows and orders there are, and what became of them.
type ImportCounts struct {
	//
	Rows int `json:"rows"`
	// In orders that failed.
	RowsFailed int `json:"rows_failed"`
	//
	Orders int `json:"orders"`
	// Not checked with the platform yet.
	OrdersWaiting int `json:"orders_waiting"`
	// Checked, and not placed yet.
	OrdersReady int `json:"orders_ready"`
	//
	OrdersFailed int `json:"orders_failed"`
	//
	OrdersPlaced int `json:"orders_placed"`
}

// ImportDetail: An import with a page of its rows, in the order of the file.
type ImportDetail struct {
	//
	ID string `json:"id"`
	//
	FileName string `json:"file_name"`
	// `checking`: previewed with the platforms; `ready`: to be confirmed; `ordering`; `done`.
	Status ImportStatus `json:"status"`
	// The column of each field, by its name in the file.
	Columns map[string]string `json:"columns"`
	//
	UnusedColumns []string `json:"unused_columns"`
	//
	Counts ImportCounts `json:"counts"`
	// In CNY, at most two decimals.
	GoodsAmountCNY float64 `json:"goods_amount_cny"`
	// In CNY, at most two decimals.
	FreightCNY float64 `json:"freight_cny"`
	// In CNY, at most two decimals.
	DiscountCNY float64 `json:"discount_cny"`
	// Of the orders that can be placed, or were placed.
	TotalAmountCNY float64 `json:"total_amount_cny"`
	//
	ConfirmedTotalCNY *float64 `json:"confirmed_total_cny"`
	//
	CreatedAt time.Time `json:"created_at"`
	//
	ConfirmedAt *time.Time `json:"confirmed_at"`
	//
	EndedAt *time.Time `json:"ended_at"`
	//
	Items []ImportRow `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// ImportOrderStatus: How far an order of an import has come. More values may be added later: accept
// unknown values.
type ImportOrderStatus string

// The values of ImportOrderStatus; more may be added.
const (
	ImportOrderStatusChecked ImportOrderStatus = "checked"
	ImportOrderStatusFailed  ImportOrderStatus = "failed"
	ImportOrderStatusPlaced  ImportOrderStatus = "placed"
	ImportOrderStatusWaiting ImportOrderStatus = "waiting"
)

// ImportRow: A row of the file, and what became of it.
type ImportRow struct {
	// As a spreadsheet numbers it.
	Row int `json:"row"`
	//
	OrderRef *string `json:"order_ref"`
	//
	ProductID *string `json:"product_id"`
	//
	SKUID *string `json:"sku_id"`
	// As it is in the file.
	Quantity *string `json:"quantity"`
	// Of its order: a failed one is not ordered.
	Status ImportOrderStatus `json:"status"`
	// Of its order.
	TotalAmountCNY *float64 `json:"total_amount_cny"`
	// The order that it became.
	Order *string `json:"order"`
	//
	Errors []RowError `json:"errors"`
	// What is unusual and keeps nothing from being ordered: a province, city or district that is not
	// known.
	Warnings []RowError `json:"warnings"`
}

// ImportStatus: How far an import has come. More values may be added later: accept unknown values.
type ImportStatus string

// The values of ImportStatus; more may be added.
const (
	ImportStatusChecking ImportStatus = "checking"
	ImportStatusDone     ImportStatus = "done"
	ImportStatusOrdering ImportStatus = "ordering"
	ImportStatusReady    ImportStatus = "ready"
)

// Job: A replay and how far it has come.
type Job struct {
	//
	ID string `json:"id"`
	// More values may be added later: accept unknown values.
	Status string `json:"status"`
	// More values may be added later: accept unknown values.
	Trigger string `json:"trigger"`
	//
	Since time.Time `json:"since"`
	//
	Until time.Time `json:"until"`
	// Events when it began, counted up to 10,000.
	Count int `json:"count"`
	// False: there are more events than `count`, or there may be: counting stops at 10,000 events, or
	// after it has looked at 50,000.
	CountIsExact bool `json:"count_is_exact"`
	//
	Queued int `json:"queued"`
	//
	Delivered int `json:"delivered"`
	//
	Failed int `json:"failed"`
	//
	CreatedAt time.Time `json:"created_at"`
	// When everything was queued, or it was cancelled.
	EndedAt *time.Time `json:"ended_at"`
}

// JobPage: One page of a list.
type JobPage struct {
	//
	Items []Job `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// Key: An API key, without the key itself.
type Key struct {
	// Null: it can do what its account can.
	Scopes []Scope `json:"scopes"`
	// Null: never.
	ExpiresAt *time.Time `json:"expires_at"`
	// Null: it can be used from anywhere.
	AllowedCidrs []string `json:"allowed_cidrs"`
	//
	ID string `json:"id"`
	//
	Name string `json:"name"`
	// How the key begins.
	Prefix string `json:"prefix"`
	//
	CreatedAt time.Time `json:"created_at"`
	// Exact to a minute; null: never.
	LastUsedAt *time.Time `json:"last_used_at"`
	// Null while it works.
	RevokedAt *time.Time `json:"revoked_at"`
}

// KeyPage: One page of a list.
type KeyPage struct {
	//
	Items []Key `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// KnownOrder: An order as the caller has it.
type KnownOrder struct {
	//
	ID string `json:"id"`
	//
	UpdatedAt time.Time `json:"updated_at"`
}

// Line: What is bought.
type Line struct {
	//
	ProductID string `json:"product_id"`
	//
	SKUID *string `json:"sku_id"`
	//
	Quantity int `json:"quantity"`
}

// LineInput: What to buy. `sku_id` is needed where the product has variants.
type LineInput struct {
	//
	ProductID string `json:"product_id"`
	//
	Quantity int `json:"quantity"`
	//
	SKUID *string `json:"sku_id,omitempty"`
}

// LockInput: Why the account is locked; operators see it.
type LockInput struct {
	//
	Reason string `json:"reason"`
}

// LoginInput: An e-mail and its password.
type LoginInput struct {
	//
	Email string `json:"email"`
	//
	Password string `json:"password"`
}

// Me: The caller's own account.
type Me struct {
	//
	ID string `json:"id"`
	// ASCII only; case does not matter.
	Email string `json:"email"`
	// What people call it.
	Name string `json:"name"`
	//
	Roles []Role `json:"roles"`
	//
	Plan Plan `json:"plan"`
	//
	CreatedAt time.Time `json:"created_at"`
	//
	Usage Usage `json:"usage"`
	// Null for a session.
	APIKey *MyKey `json:"api_key"`
}

// MyKey: The API key that the request was sent with.
type MyKey struct {
	// Null: it can do what its account can.
	Scopes []Scope `json:"scopes"`
	// Null: never.
	ExpiresAt *time.Time `json:"expires_at"`
	// Null: it can be used from anywhere.
	AllowedCidrs []string `json:"allowed_cidrs"`
	//
	ID string `json:"id"`
}

// NewAccountInput: An account to create. Without a password, create a password link for its owner
// next.
type NewAccountInput struct {
	// ASCII only; case does not matter.
	Email string `json:"email"`
	// What people call it.
	Name *string `json:"name,omitempty"`
	//
	Roles []Role `json:"roles,omitempty"`
	//
	Plan *Plan `json:"plan,omitempty"`
	//
	Password *string `json:"password,omitempty"`
}

// NewKey: A new API key, with the key itself, which is shown only once.
type NewKey struct {
	// Null: it can do what its account can.
	Scopes []Scope `json:"scopes"`
	// Null: never.
	ExpiresAt *time.Time `json:"expires_at"`
	// Null: it can be used from anywhere.
	AllowedCidrs []string `json:"allowed_cidrs"`
	//
	ID string `json:"id"`
	//
	Name string `json:"name"`
	// How the key begins.
	Prefix string `json:"prefix"`
	//
	CreatedAt time.Time `json:"created_at"`
	// Exact to a minute; null: never.
	LastUsedAt *time.Time `json:"last_used_at"`
	// Null while it works.
	RevokedAt *time.Time `json:"revoked_at"`
	// Send it as `x-api-key`.
	Key string `json:"key"`
}

// NewKeyInput: A name that says what the key is for, and what it is restricted to.
type NewKeyInput struct {
	//
	Name string `json:"name"`
	// All that the key may do; null or left out: what its account can.
	Scopes []Scope `json:"scopes,omitempty"`
	// From then on it is rejected; null or left out: never.
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	// The networks that it can be used from; null or left out: any.
	AllowedCidrs []string `json:"allowed_cidrs,omitempty"`
}

// NewSubscription: A subscription that was just created, with its secret, which is never shown
// again.
type NewSubscription struct {
	//
	ID string `json:"id"`
	// HTTPS in production; `http` and localhost in development too.
	URL string `json:"url"`
	//
	Events []string `json:"events"`
	//
	IsActive bool `json:"is_active"`
	//
	Description string `json:"description"`
	// Whether missed events are replayed automatically when the endpoint works again.
	CatchUp bool `json:"catch_up"`
	// The names of its own headers; values are not shown.
	Headers map[string]string `json:"headers"`
	// Whether the headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`)
	// are sent as well.
	StandardWebhooks bool `json:"standard_webhooks"`
	//
	Filter *Filter `json:"filter"`
	// `failing`: switched off, since all deliveries failed for five days.
	DisabledReason *string `json:"disabled_reason"`
	//
	Health Health `json:"health"`
	//
	FailingSince *time.Time `json:"failing_since"`
	//
	CreatedAt time.Time `json:"created_at"`
	//
	UpdatedAt time.Time `json:"updated_at"`
	//
	SecretRotatedAt *time.Time `json:"secret_rotated_at"`
	// The key of the signatures, as the whole string.
	Secret string `json:"secret"`
	// The same secret as libraries of Standard Webhooks read it; only if `standard_webhooks` is on.
	StandardWebhooksSecret *string `json:"standard_webhooks_secret,omitempty"`
}

// Notice: That the notice arrived.
type Notice struct {
	//
	Received bool `json:"received"`
}

// Offer: A product in search results.
type Offer struct {
	//
	ID string `json:"id"`
	// `sandbox`, `alibaba` (or `1688`), `taobao`.
	Platform string `json:"platform"`
	//
	Title string `json:"title"`
	//
	TitleTranslated *string `json:"title_translated"`
	//
	URL *string `json:"url"`
	//
	ImageURL *string `json:"image_url"`
	//
	PriceCNY *float64 `json:"price_cny"`
	//
	PriceMaxCNY *float64 `json:"price_max_cny"`
	//
	MinOrderQuantity *int `json:"min_order_quantity"`
	// Units sold lately.
	Sold *int `json:"sold"`
	// 0 to 1.
	RepurchaseRate *float64 `json:"repurchase_rate"`
	//
	Seller Seller `json:"seller"`
}

// Order: An order.
type Order struct {
	//
	ID string `json:"id"`
	// `sandbox`, `alibaba` (or `1688`), `taobao`.
	Platform string `json:"platform"`
	// Its id on the platform; null before it has one.
	OrderID *string `json:"order_id"`
	//
	Status OrderStatus `json:"status"`
	//
	PaymentStatus PaymentStatus `json:"payment_status"`
	//
	PlatformPaymentStatus PaymentState `json:"platform_payment_status"`
	//
	TotalAmountCNY *float64 `json:"total_amount_cny"`
	//
	UpdatedAt time.Time `json:"updated_at"`
	//
	AccountID string `json:"account_id"`
	//
	Items []OrderItem `json:"items"`
	//
	Address Address `json:"address"`
	//
	Remark *string `json:"remark"`
	//
	GoodsAmountCNY *float64 `json:"goods_amount_cny"`
	//
	FreightCNY *float64 `json:"freight_cny"`
	//
	DiscountCNY *float64 `json:"discount_cny"`
	// In CNY, at most two decimals.
	PaidAmountCNY float64 `json:"paid_amount_cny"`
	// In CNY, at most two decimals.
	RefundedAmountCNY float64 `json:"refunded_amount_cny"`
	//
	PlatformOrders []PlatformOrder `json:"platform_orders"`
	//
	Shipments []Shipment `json:"shipments"`
	//
	Refunds []Refund `json:"refunds"`
	// The payment request that is open.
	Payment *Payment `json:"payment"`
	// The platform's own status.
	PlatformStatus *string `json:"platform_status"`
	//
	Failure *Failure `json:"failure"`
	//
	CancelRequested bool `json:"cancel_requested"`
	//
	Dispute bool `json:"dispute"`
	// It was paid on the platform's own pages, without an approval.
	PaidOutside bool `json:"paid_outside"`
	//
	CloseReason *CloseReason `json:"close_reason"`
	//
	PayBefore *time.Time `json:"pay_before"`
	// More values may be added later: accept unknown values.
	WaitingFor string `json:"waiting_for"`
	//
	ExternalID *string `json:"external_id"`
	//
	Metadata map[string]string `json:"metadata"`
	//
	CreatedAt time.Time `json:"created_at"`
	// When the platform was last asked, with success.
	SyncedAt *time.Time `json:"synced_at"`
	//
	NextSyncAt *time.Time `json:"next_sync_at"`
	// The platform could not be read: this is as of the last sync.
	Stale bool `json:"stale"`
	//
	Version int `json:"version"`
}

// OrderInput: An order to preview or to place.
type OrderInput struct {
	// `sandbox`, `alibaba` (or `1688`), `taobao`.
	Platform string `json:"platform"`
	//
	Items []LineInput `json:"items"`
	//
	Address AddressInput `json:"address"`
	//
	Remark *string `json:"remark,omitempty"`
	// What a preview said. If the order costs something else: 409 `price_changed`, and nothing is
	// ordered. A preview takes no notice of it.
	ExpectedTotalCNY *float64 `json:"expected_total_cny,omitempty"`
	//
	ExternalID *string `json:"external_id,omitempty"`
	// Up to 50 texts of yours, kept with the order.
	Metadata map[string]string `json:"metadata,omitempty"`
}

// OrderItem: What is bought, as it was seen when the order was placed; null where nothing is known.
type OrderItem struct {
	//
	ProductID string `json:"product_id"`
	//
	SKUID *string `json:"sku_id"`
	//
	Quantity int `json:"quantity"`
	//
	Title *string `json:"title"`
	// In English.
	TitleTranslated *string `json:"title_translated"`
	// A picture of the variant, else of the product.
	ImageURL *string `json:"image_url"`
	// Of the variant; empty where the product has no variants.
	Attributes map[string]string `json:"attributes"`
	// For one piece at this quantity, without freight and discounts.
	UnitPriceCNY *float64 `json:"unit_price_cny"`
	//
	Seller Seller `json:"seller"`
}

// OrderNews: The order as it was right after the change.
type OrderNews struct {
	//
	ID string `json:"id"`
	//
	Platform string `json:"platform"`
	// Its id on the platform; null before it has one.
	OrderID *string `json:"order_id"`
	//
	Status string `json:"status"`
	//
	PaymentStatus string `json:"payment_status"`
	//
	PlatformPaymentStatus string `json:"platform_payment_status"`
	//
	TotalAmountCNY *float64 `json:"total_amount_cny"`
	// Rises with every change: of two events the one with the later is newer.
	UpdatedAt time.Time `json:"updated_at"`
}

// OrderPage: One page of a list.
type OrderPage struct {
	//
	Items []Order `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// OrderStatus: Where an order stands on its marketplace. Only what the marketplace says writes it.
// More values may be added later: accept unknown values.
type OrderStatus string

// The values of OrderStatus; more may be added.
const (
	OrderStatusCancelled        OrderStatus = "cancelled"
	OrderStatusClosed           OrderStatus = "closed"
	OrderStatusCompleted        OrderStatus = "completed"
	OrderStatusCreateFailed     OrderStatus = "create_failed"
	OrderStatusCreating         OrderStatus = "creating"
	OrderStatusPaid             OrderStatus = "paid"
	OrderStatusPartiallyShipped OrderStatus = "partially_shipped"
	OrderStatusPendingPayment   OrderStatus = "pending_payment"
	OrderStatusReceived         OrderStatus = "received"
	OrderStatusShipped          OrderStatus = "shipped"
	OrderStatusUnknown          OrderStatus = "unknown"
)

// OrderedGroup: The order that a group became, or the error that kept it from being ordered.
type OrderedGroup struct {
	// `sandbox`, `alibaba` (or `1688`), `taobao`.
	Platform string `json:"platform"`
	// Null where the lines have several, or it is not known.
	Seller Seller `json:"seller"`
	//
	Items []CartItem `json:"items"`
	// Null if the group has no error.
	Error *GroupProblem `json:"error"`
	// Null if there is an error.
	Order *Order `json:"order"`
}

// Outcome: How an attempt ended. More values may be added later: accept unknown values.
type Outcome string

// The values of Outcome; more may be added.
const (
	OutcomeBlockedAddress   Outcome = "blocked_address"
	OutcomeCancelled        Outcome = "cancelled"
	OutcomeConnectFailed    Outcome = "connect_failed"
	OutcomeConnectionClosed Outcome = "connection_closed"
	OutcomeDelivered        Outcome = "delivered"
	OutcomeDNSError         Outcome = "dns_error"
	OutcomeHTTPError        Outcome = "http_error"
	OutcomeInvalidResponse  Outcome = "invalid_response"
	OutcomeTimeout          Outcome = "timeout"
	OutcomeTLSError         Outcome = "tls_error"
	OutcomeUnknown          Outcome = "unknown"
)

// Paginate: The number and size of this page, and the total of all pages.
type Paginate struct {
	//
	Total int `json:"total"`
	//
	Current int `json:"current"`
	//
	Size int `json:"size"`
}

// PasswordInput: The current password, and the one that replaces it.
type PasswordInput struct {
	//
	CurrentPassword string `json:"current_password"`
	// At least 12 characters.
	NewPassword string `json:"new_password"`
}

// PasswordLink: A link by which its holder chooses a password, once. It is shown only here.
type PasswordLink struct {
	//
	URL string `json:"url"`
	//
	ExpiresAt time.Time `json:"expires_at"`
}

// PastedAddress: The fields of an address; null where nothing was recognised.
type PastedAddress struct {
	//
	Name *string `json:"name"`
	//
	Phone *string `json:"phone"`
	//
	Province *string `json:"province"`
	//
	City *string `json:"city"`
	//
	District *string `json:"district"`
	// The street address, and everything that was not recognised.
	Detail *string `json:"detail"`
	//
	PostalCode *string `json:"postal_code"`
}

// PastedAddressInput: A text with an address.
type PastedAddressInput struct {
	//
	Text string `json:"text"`
}

// PayMode: How an approved payment is made: we debit, or a person follows a link. More values may
// be added later: accept unknown values.
type PayMode string

// The values of PayMode; more may be added.
const (
	PayModeAuto PayMode = "auto"
	PayModeLink PayMode = "link"
)

// Payment: A request to pay an order, and what became of it.
type Payment struct {
	//
	ID string `json:"id"`
	//
	Status RequestStatus `json:"status"`
	// In CNY, at most two decimals.
	AmountCNY float64 `json:"amount_cny"`
	//
	Mode PayMode `json:"mode"`
	//
	RequestedBy Person `json:"requested_by"`
	//
	RequestedAt time.Time `json:"requested_at"`
	// Why it is requested, in the requester's words.
	Note *string `json:"note"`
	// Who approved, rejected or withdrew it.
	DecidedBy *Person `json:"decided_by"`
	// When they did.
	DecidedAt *time.Time `json:"decided_at"`
	// Of a rejection in the approver's words; of `superseded` one of `amount_changed`, `paid_outside`,
	// `order_closed`.
	Reason *string `json:"reason"`
	// Where a person pays, in pay mode `link`.
	PayURL *string `json:"pay_url"`
	//
	Failure *Failure `json:"failure"`
}

// PaymentInput: The amount that the buyer saw, and why it should be paid.
type PaymentInput struct {
	// If the order costs something else: 409 `amount_changed`.
	AmountCNY *float64 `json:"amount_cny,omitempty"`
	// For whoever approves it.
	Note *string `json:"note,omitempty"`
}

// PaymentPage: One page of a list.
type PaymentPage struct {
	//
	Items []Payment `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// PaymentState: The payment status of an order on its marketplace. More values may be added later:
// accept unknown values.
type PaymentState string

// The values of PaymentState; more may be added.
const (
	PaymentStateClosed            PaymentState = "closed"
	PaymentStateFailed            PaymentState = "failed"
	PaymentStatePaid              PaymentState = "paid"
	PaymentStatePartiallyPaid     PaymentState = "partially_paid"
	PaymentStatePartiallyRefunded PaymentState = "partially_refunded"
	PaymentStateProcessing        PaymentState = "processing"
	PaymentStateRefunded          PaymentState = "refunded"
	PaymentStateUnknown           PaymentState = "unknown"
	PaymentStateUnpaid            PaymentState = "unpaid"
)

// PaymentStatus: Where the money of an order stands with us. Commands and confirmed facts write it.
// More values may be added later: accept unknown values.
type PaymentStatus string

// The values of PaymentStatus; more may be added.
const (
	PaymentStatusApproved          PaymentStatus = "approved"
	PaymentStatusCancelled         PaymentStatus = "cancelled"
	PaymentStatusFailed            PaymentStatus = "failed"
	PaymentStatusPaid              PaymentStatus = "paid"
	PaymentStatusPartiallyRefunded PaymentStatus = "partially_refunded"
	PaymentStatusPendingApproval   PaymentStatus = "pending_approval"
	PaymentStatusProcessing        PaymentStatus = "processing"
	PaymentStatusRefunded          PaymentStatus = "refunded"
	PaymentStatusRejected          PaymentStatus = "rejected"
	PaymentStatusUnpaid            PaymentStatus = "unpaid"
)

// PaymentWithOrder: A request to pay, with the order that it is about.
type PaymentWithOrder struct {
	//
	ID string `json:"id"`
	//
	Status RequestStatus `json:"status"`
	// In CNY, at most two decimals.
	AmountCNY float64 `json:"amount_cny"`
	//
	Mode PayMode `json:"mode"`
	//
	RequestedBy Person `json:"requested_by"`
	//
	RequestedAt time.Time `json:"requested_at"`
	// Why it is requested, in the requester's words.
	Note *string `json:"note"`
	// Who approved, rejected or withdrew it.
	DecidedBy *Person `json:"decided_by"`
	// When they did.
	DecidedAt *time.Time `json:"decided_at"`
	// Of a rejection in the approver's words; of `superseded` one of `amount_changed`, `paid_outside`,
	// `order_closed`.
	Reason *string `json:"reason"`
	// Where a person pays, in pay mode `link`.
	PayURL *string `json:"pay_url"`
	//
	Failure *Failure `json:"failure"`
	//
	Order Order `json:"order"`
}

// PaymentWithOrderPage: One page of a list.
type PaymentWithOrderPage struct {
	//
	Items []PaymentWithOrder `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// Pending: A delivery that is not over.
type Pending struct {
	//
	EventID string `json:"event_id"`
	//
	Event *string `json:"event"`
	//
	Order *string `json:"order"`
	// The attempt that comes next.
	Attempt int `json:"attempt"`
	//
	Trigger DeliveryTrigger `json:"trigger"`
	//
	DueAt time.Time `json:"due_at"`
	// Whether it is being sent right now.
	UnderWay bool `json:"under_way"`
}

// PendingPage: One page of a list.
type PendingPage struct {
	//
	Items []Pending `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// Person: An account, with the e-mail that it had then.
type Person struct {
	//
	AccountID string `json:"account_id"`
	//
	Email string `json:"email"`
	// The program that acted for it, if it gave its name.
	Agent *string `json:"agent"`
}

// Plan: How often an account may call. More values may be added later: accept unknown values.
type Plan string

// The values of Plan; more may be added.
const (
	PlanEnterprise Plan = "enterprise"
	PlanFree       Plan = "free"
	PlanPro        Plan = "pro"
)

// PlanInput: The plan to put the account on.
type PlanInput struct {
	//
	Plan Plan `json:"plan"`
}

// Platform: A marketplace: its capabilities, and whether it is connected here.
type Platform struct {
	// `sandbox`, `alibaba` (or `1688`), `taobao`.
	Platform string `json:"platform"`
	//
	Name string `json:"name"`
	//
	Capabilities []Capability `json:"capabilities"`
	// Whether it has credentials.
	Configured bool `json:"configured"`
	// `expiring`: the authorisation ends within a week. `none`: there is none. More values may be added
	// later: accept unknown values.
	Connection string `json:"connection"`
	// No real money, no real goods.
	Simulated bool `json:"simulated"`
	//
	Currency string `json:"currency"`
	// Lines in one order.
	MaxLines int `json:"max_lines"`
	// Whether an order's lines must be of one seller.
	SingleSeller bool `json:"single_seller"`
}

// PlatformOrder: One of the orders on the platform that this order became.
type PlatformOrder struct {
	//
	OrderID string `json:"order_id"`
	//
	Status *PlatformOrderStatus `json:"status"`
	//
	PlatformStatus string `json:"platform_status"`
	//
	PaymentStatus PaymentState `json:"payment_status"`
	// In CNY, at most two decimals.
	TotalAmountCNY float64 `json:"total_amount_cny"`
	// In CNY, at most two decimals.
	RefundedAmountCNY float64 `json:"refunded_amount_cny"`
}

// PlatformOrderStatus: The status of an order on its marketplace, in terms that all marketplaces
// share. More values may be added later: accept unknown values.
type PlatformOrderStatus string

// The values of PlatformOrderStatus; more may be added.
const (
	PlatformOrderStatusCancelled        PlatformOrderStatus = "cancelled"
	PlatformOrderStatusClosed           PlatformOrderStatus = "closed"
	PlatformOrderStatusCompleted        PlatformOrderStatus = "completed"
	PlatformOrderStatusCreating         PlatformOrderStatus = "creating"
	PlatformOrderStatusPaid             PlatformOrderStatus = "paid"
	PlatformOrderStatusPartiallyShipped PlatformOrderStatus = "partially_shipped"
	PlatformOrderStatusPendingPayment   PlatformOrderStatus = "pending_payment"
	PlatformOrderStatusReceived         PlatformOrderStatus = "received"
	PlatformOrderStatusShipped          PlatformOrderStatus = "shipped"
	PlatformOrderStatusUnknown          PlatformOrderStatus = "unknown"
)

// PlatformPage: One page of a list.
type PlatformPage struct {
	//
	Items []Platform `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// Preview: What an order would cost now.
type Preview struct {
	//
	Sellers []SellerPreview `json:"sellers"`
	// In CNY, at most two decimals.
	TotalAmountCNY float64 `json:"total_amount_cny"`
	//
	UnavailableItems []Unavailable `json:"unavailable_items"`
	// A province, city or district that is not known.
	Warnings []AddressWarning `json:"warnings"`
}

// PriceRange: The unit price from a quantity on.
type PriceRange struct {
	//
	MinQuantity int `json:"min_quantity"`
	// In CNY, at most two decimals.
	PriceCNY float64 `json:"price_cny"`
}

// Problem: A problem document (RFC 9457).
type Problem struct {
	// Opens an explanation.
	Type string `json:"type"`
	//
	Title string `json:"title"`
	//
	Status int `json:"status"`
	//
	Detail string `json:"detail"`
	// Stable; compare this.
	Code string `json:"code"`
	//
	RequestID string `json:"request_id"`
	// Seconds to wait.
	RetryAfter *int `json:"retry_after,omitempty"`
	//
	Errors []ProblemField `json:"errors,omitempty"`
	// The state that forbids it.
	Current *string `json:"current,omitempty"`
	// The possible values.
	Allowed []string `json:"allowed,omitempty"`
	//
	Upstream *ProblemUpstream `json:"upstream,omitempty"`
}

// ProblemField: A wrong field of the body, or a wrong query parameter.
type ProblemField struct {
	//
	Pointer string `json:"pointer"`
	//
	Code string `json:"code"`
	//
	Message string `json:"message"`
}

// ProblemUpstream: The marketplace's response.
type ProblemUpstream struct {
	//
	Platform *string `json:"platform,omitempty"`
	//
	Code *string `json:"code,omitempty"`
	//
	Message *string `json:"message,omitempty"`
}

// Product: Everything about a product.
type Product struct {
	//
	ID string `json:"id"`
	// `sandbox`, `alibaba` (or `1688`), `taobao`.
	Platform string `json:"platform"`
	//
	Title string `json:"title"`
	//
	TitleTranslated *string `json:"title_translated"`
	//
	URL *string `json:"url"`
	//
	ImageURL *string `json:"image_url"`
	//
	PriceCNY *float64 `json:"price_cny"`
	//
	PriceMaxCNY *float64 `json:"price_max_cny"`
	//
	MinOrderQuantity *int `json:"min_order_quantity"`
	// Units sold lately.
	Sold *int `json:"sold"`
	// 0 to 1.
	RepurchaseRate *float64 `json:"repurchase_rate"`
	//
	Seller Seller `json:"seller"`
	//
	Skus []Sku `json:"skus"`
	//
	PriceRanges []PriceRange `json:"price_ranges"`
	//
	Images []string `json:"images"`
	//
	Description *string `json:"description"`
	//
	Stock *int `json:"stock"`
	// Under the marketplace's own names; `attributes` has it in words.
	Shipping map[string]string `json:"shipping"`
	// Facts in words: material, weight, size of the parcel, dispatch.
	Attributes []ProductAttribute `json:"attributes"`
}

// ProductAttribute: A fact about a product in words.
type ProductAttribute struct {
	//
	Name string `json:"name"`
	//
	Value string `json:"value"`
	// Null where it has none.
	Unit *string `json:"unit"`
}

// ProductReference: A product by its marketplace and its ID there.
type ProductReference struct {
	// `sandbox`, `alibaba` (or `1688`), `taobao`.
	Platform string `json:"platform"`
	//
	ProductID string `json:"product_id"`
	//
	URL *string `json:"url"`
}

// Queue: What waits for one subscription.
type Queue struct {
	//
	SubscriptionID string `json:"subscription_id"`
	// Null: it was deleted.
	AccountID *string `json:"account_id"`
	//
	URL *string `json:"url"`
	// Counted up to 10,001.
	Pending int `json:"pending"`
	//
	FirstDueAt time.Time `json:"first_due_at"`
	//
	FailingSince *string `json:"failing_since"`
	//
	Concurrency *int `json:"concurrency"`
}

// QueuePage: One page of a list.
type QueuePage struct {
	//
	Items []Queue `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// Readiness: Whether the service is ready, and what is wrong if not.
type Readiness struct {
	//
	Status string `json:"status"`
	//
	Problems []string `json:"problems"`
}

// Reason: Why a marketplace rejected a call, in terms that all marketplaces share. More values may
// be added later: accept unknown values.
type Reason string

// The values of Reason; more may be added.
const (
	ReasonAccountFrozen  Reason = "account_frozen"
	ReasonAlreadyPaid    Reason = "already_paid"
	ReasonBadAddress     Reason = "bad_address"
	ReasonBelowMinimum   Reason = "below_minimum"
	ReasonMixedBatch     Reason = "mixed_batch"
	ReasonNoFunds        Reason = "no_funds"
	ReasonNotForSale     Reason = "not_for_sale"
	ReasonNotFound       Reason = "not_found"
	ReasonNotSupported   Reason = "not_supported"
	ReasonOther          Reason = "other"
	ReasonOutOfStock     Reason = "out_of_stock"
	ReasonPriceChanged   Reason = "price_changed"
	ReasonRefundTooLarge Reason = "refund_too_large"
	ReasonSeveralSellers Reason = "several_sellers"
	ReasonWrongState     Reason = "wrong_state"
)

// Recover: A replay that was begun, or only counted.
type Recover struct {
	// Null after a dry run.
	ID *string `json:"id"`
	// Counted up to 10,000.
	Count int `json:"count"`
	// False: there are more events than `count`, or there may be: counting stops at 10,000 events, or
	// after it has looked at 50,000.
	CountIsExact bool `json:"count_is_exact"`
}

// RecoverInput: Which events to deliver again.
type RecoverInput struct {
	//
	Since time.Time `json:"since"`
	// Left out: until now.
	Until *time.Time `json:"until,omitempty"`
	//
	Order *string `json:"order,omitempty"`
	// `undelivered`: failed, cancelled and missed ones.
	Include *string `json:"include,omitempty"`
	// Only count, up to 10,000.
	DryRun *bool `json:"dry_run,omitempty"`
}

// RefreshInput: The refresh token of the pair to replace.
type RefreshInput struct {
	// Works once; lasts 180 days.
	RefreshToken string `json:"refresh_token"`
}

// Refund: A refund. `failure` is there when the platform never got it.
type Refund struct {
	//
	ID string `json:"id"`
	//
	PlatformRefundID *string `json:"platform_refund_id"`
	//
	OrderID string `json:"order_id"`
	//
	Status RefundState `json:"status"`
	//
	Type *RefundKind `json:"type"`
	// In CNY, at most two decimals.
	AmountCNY float64 `json:"amount_cny"`
	// In CNY, at most two decimals.
	FreightCNY float64 `json:"freight_cny"`
	//
	Reason *string `json:"reason"`
	//
	Note *string `json:"note"`
	//
	Failure *Failure `json:"failure"`
	//
	RequestedAt time.Time `json:"requested_at"`
	//
	UpdatedAt time.Time `json:"updated_at"`
}

// RefundInput: How much to refund, and why.
type RefundInput struct {
	//
	Type RefundKind `json:"type"`
	//
	Reason string `json:"reason"`
	// For the goods. Left out: all that is left of the goods. 0 only with `freight_cny` above 0: for
	// the freight alone.
	AmountCNY *float64 `json:"amount_cny,omitempty"`
	// For the freight, on top.
	FreightCNY *float64 `json:"freight_cny,omitempty"`
	//
	Note *string `json:"note,omitempty"`
	// Of an order that the platform split: of which part of it, by the platform's id.
	OrderID *string `json:"order_id,omitempty"`
}

// RefundKind: Money back, with or without the goods going back. More values may be added later:
// accept unknown values.
type RefundKind string

// The values of RefundKind; more may be added.
const (
	RefundKindRefundOnly      RefundKind = "refund_only"
	RefundKindReturnAndRefund RefundKind = "return_and_refund"
)

// RefundPage: One page of a list.
type RefundPage struct {
	//
	Items []Refund `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// RefundState: The status of a refund. More values may be added later: accept unknown values.
type RefundState string

// The values of RefundState; more may be added.
const (
	RefundStateApproved  RefundState = "approved"
	RefundStateClosed    RefundState = "closed"
	RefundStateRefused   RefundState = "refused"
	RefundStateRequested RefundState = "requested"
	RefundStateSucceeded RefundState = "succeeded"
)

// RejectInput: Why it is rejected.
type RejectInput struct {
	//
	Reason string `json:"reason"`
}

// RequestStatus: Where a payment request stands. More values may be added later: accept unknown
// values.
type RequestStatus string

// The values of RequestStatus; more may be added.
const (
	RequestStatusApproved        RequestStatus = "approved"
	RequestStatusFailed          RequestStatus = "failed"
	RequestStatusPaid            RequestStatus = "paid"
	RequestStatusPendingApproval RequestStatus = "pending_approval"
	RequestStatusProcessing      RequestStatus = "processing"
	RequestStatusRejected        RequestStatus = "rejected"
	RequestStatusSuperseded      RequestStatus = "superseded"
	RequestStatusWithdrawn       RequestStatus = "withdrawn"
)

// Resolve: The product that a text names.
type Resolve struct {
	// Null when the ID may be of several marketplaces.
	Platform *string `json:"platform"`
	//
	ProductID string `json:"product_id"`
	//
	URL *string `json:"url"`
	// Each marketplace that the ID may be of; empty when it is clear.
	Candidates []ProductReference `json:"candidates"`
}

// ResolveInput: A text that names a product.
type ResolveInput struct {
	// A link to a product, a shared text that contains one, or a product ID.
	Text string `json:"text"`
	// Whose ID it is; a link names its own marketplace.
	Platform *string `json:"platform,omitempty"`
}

// Role: What an account may do on top of logging in. More values may be added later: accept unknown
// values.
type Role string

// The values of Role; more may be added.
const (
	RoleApprover Role = "approver"
	RoleBuyer    Role = "buyer"
	RoleOperator Role = "operator"
)

// RolesInput: All roles that the account shall have.
type RolesInput struct {
	//
	Roles []Role `json:"roles"`
}

// Rotated: A new secret, which is never shown again.
type Rotated struct {
	//
	ID string `json:"id"`
	//
	Secret string `json:"secret"`
	//
	RotatedAt time.Time `json:"rotated_at"`
	// The same secret as libraries of Standard Webhooks read it; only if `standard_webhooks` is on.
	StandardWebhooksSecret *string `json:"standard_webhooks_secret,omitempty"`
}

// RowError: What is wrong with a row.
type RowError struct {
	// Its name in the file; null: the whole row.
	Column *string `json:"column"`
	//
	Code string `json:"code"`
	//
	Message string `json:"message"`
}

// SavedAddress: A saved address.
type SavedAddress struct {
	//
	ID string `json:"id"`
	//
	Label string `json:"label"`
	//
	Name string `json:"name"`
	//
	Phone string `json:"phone"`
	//
	Province string `json:"province"`
	//
	City string `json:"city"`
	//
	District string `json:"district"`
	//
	Detail string `json:"detail"`
	//
	PostalCode *string `json:"postal_code"`
	// Whether it is the default. If there are addresses, exactly one is: the first one, until another
	// is made the default.
	IsDefault bool `json:"is_default"`
	//
	CreatedAt time.Time `json:"created_at"`
	//
	UpdatedAt time.Time `json:"updated_at"`
}

// SavedAddressInput: An address to save.
type SavedAddressInput struct {
	// The recipient.
	Name string `json:"name"`
	//
	Phone string `json:"phone"`
	//
	Province string `json:"province"`
	//
	City string `json:"city"`
	//
	District string `json:"district"`
	// Street, number, building and room.
	Detail string `json:"detail"`
	//
	PostalCode *string `json:"postal_code,omitempty"`
	// A name by which people find it in the address book.
	Label *string `json:"label,omitempty"`
	// Whether it is the default. If there are addresses, exactly one is: the first one, until another
	// is made the default.
	IsDefault *bool `json:"is_default,omitempty"`
}

// SavedAddressPage: One page of a list.
type SavedAddressPage struct {
	//
	Items []SavedAddress `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// SavedAddressPatch: What to change; what is left out stays. An empty `label` or `postal_code`
// clears it.
type SavedAddressPatch struct {
	//
	Name *string `json:"name,omitempty"`
	//
	Phone *string `json:"phone,omitempty"`
	//
	Province *string `json:"province,omitempty"`
	//
	City *string `json:"city,omitempty"`
	//
	District *string `json:"district,omitempty"`
	//
	Detail *string `json:"detail,omitempty"`
	//
	PostalCode *string `json:"postal_code,omitempty"`
	//
	Label *string `json:"label,omitempty"`
	//
	IsDefault *bool `json:"is_default,omitempty"`
}

// Scope: One permission of an API key. A key without scopes can do what its account can.
//
//	`read` reads and searches, `order` buys and keeps the address book, `pay_request` requests
//	payments and refunds, `webhooks` changes webhooks and sends events again. More values may be
//
// added later: accept unknown values.
type Scope string

// The values of Scope; more may be added.
const (
	ScopeOrder      Scope = "order"
	ScopePayRequest Scope = "pay_request"
	ScopeRead       Scope = "read"
	ScopeWebhooks   Scope = "webhooks"
)

// Search: A page of products.
type Search struct {
	//
	Items []Offer `json:"items"`
	//
	Paginate Paginate `json:"paginate"`
}

// SearchInput: A search on a marketplace.
type SearchInput struct {
	// `sandbox`, `alibaba` (or `1688`), `taobao`.
	Platform string `json:"platform"`
	//
	Page *int `json:"page,omitempty"`
	//
	Size *int `json:"size,omitempty"`
	//
	Sort *Sort `json:"sort,omitempty"`
	//
	MinPriceCNY *float64 `json:"min_price_cny,omitempty"`
	//
	MaxPriceCNY *float64 `json:"max_price_cny,omitempty"`
	// The language of translations.
	Lang *string `json:"lang,omitempty"`
	// Any language.
	Q string `json:"q"`
}

// Seller: The seller of a product.
type Seller struct {
	//
	ID *string `json:"id"`
	//
	Name *string `json:"name"`
}

// SellerPreview: One seller's part.
type SellerPreview struct {
	// Null where the platform does not say.
	ID *string `json:"id"`
	//
	Items []Line `json:"items"`
	// In CNY, at most two decimals.
	GoodsAmountCNY float64 `json:"goods_amount_cny"`
	// In CNY, at most two decimals.
	FreightCNY float64 `json:"freight_cny"`
	// In CNY, at most two decimals.
	DiscountCNY float64 `json:"discount_cny"`
	// In CNY, at most two decimals.
	TotalAmountCNY float64 `json:"total_amount_cny"`
}

// Shipment: A parcel, and what is in it; no items when the platform does not say.
type Shipment struct {
	//
	OrderID string `json:"order_id"`
	//
	Carrier *string `json:"carrier"`
	//
	TrackingNumber *string `json:"tracking_number"`
	//
	ShippedAt *time.Time `json:"shipped_at"`
	//
	Items []ShipmentItem `json:"items"`
}

// ShipmentItem: A line of the order that is in a parcel.
type ShipmentItem struct {
	//
	ProductID string `json:"product_id"`
	//
	SKUID *string `json:"sku_id"`
	// How many pieces of it are in this parcel; null if they are spread over several parcels and the
	// platform does not say how.
	Quantity *int `json:"quantity"`
}

// Sku: A variant; an order names it as `sku_id`.
type Sku struct {
	//
	ID string `json:"id"`
	//
	Attributes map[string]string `json:"attributes"`
	//
	PriceCNY *float64 `json:"price_cny"`
	//
	Stock *int `json:"stock"`
	//
	ImageURL *string `json:"image_url"`
}

// Sort: The order of a search's results.
type Sort string

// The values of Sort; more may be added.
const (
	SortPriceAsc  Sort = "price_asc"
	SortPriceDesc Sort = "price_desc"
	SortRelevance Sort = "relevance"
	SortSalesDesc Sort = "sales_desc"
)

// Step: A step on the way to the endpoint.
type Step struct {
	// More values may be added later: accept unknown values.
	Step string `json:"step"`
	// Null: not reached.
	Ok *bool `json:"ok"`
	// From the start to its end.
	TookMs *int `json:"took_ms"`
	// Of the certificate, at the step `tls`.
	DaysToExpiry *int `json:"days_to_expiry"`
	//
	Note *string `json:"note"`
}

// Subscription: A subscription.
type Subscription struct {
	//
	ID string `json:"id"`
	// HTTPS in production; `http` and localhost in development too.
	URL string `json:"url"`
	//
	Events []string `json:"events"`
	//
	IsActive bool `json:"is_active"`
	//
	Description string `json:"description"`
	// Whether missed events are replayed automatically when the endpoint works again.
	CatchUp bool `json:"catch_up"`
	// The names of its own headers; values are not shown.
	Headers map[string]string `json:"headers"`
	// Whether the headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`)
	// are sent as well.
	StandardWebhooks bool `json:"standard_webhooks"`
	//
	Filter *Filter `json:"filter"`
	// `failing`: switched off, since all deliveries failed for five days.
	DisabledReason *string `json:"disabled_reason"`
	//
	Health Health `json:"health"`
	//
	FailingSince *time.Time `json:"failing_since"`
	//
	CreatedAt time.Time `json:"created_at"`
	//
	UpdatedAt time.Time `json:"updated_at"`
	//
	SecretRotatedAt *time.Time `json:"secret_rotated_at"`
}

// SubscriptionInput: A subscription to create.
type SubscriptionInput struct {
	// HTTPS in production; `http` and localhost in development too.
	URL string `json:"url"`
	//
	Events []string `json:"events,omitempty"`
	//
	IsActive *bool `json:"is_active,omitempty"`
	//
	Description *string `json:"description,omitempty"`
	// Whether missed events are replayed automatically when the endpoint works again.
	CatchUp *bool `json:"catch_up,omitempty"`
	// Headers that every request to the URL carries besides ours. Values are stored encrypted, and
	// shown as asterisks.
	Headers map[string]string `json:"headers,omitempty"`
	// Whether the headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`)
	// are sent as well.
	StandardWebhooks *bool `json:"standard_webhooks,omitempty"`
	//
	Filter *FilterInput `json:"filter,omitempty"`
}

// SubscriptionPage: One page of a list.
type SubscriptionPage struct {
	//
	Items []Subscription `json:"items"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as `cursor` to get the next page; null on the last.
	NextCursor *string `json:"next_cursor"`
}

// SubscriptionPatch: What to change; what is left out stays.
type SubscriptionPatch struct {
	//
	URL *string `json:"url,omitempty"`
	//
	Events []string `json:"events,omitempty"`
	//
	IsActive *bool `json:"is_active,omitempty"`
	//
	Description *string `json:"description,omitempty"`
	//
	CatchUp *bool `json:"catch_up,omitempty"`
	//
	Headers map[string]string `json:"headers,omitempty"`
	//
	StandardWebhooks *bool `json:"standard_webhooks,omitempty"`
	//
	Filter *FilterInput `json:"filter,omitempty"`
}

// Test: What became of a test delivery.
type Test struct {
	//
	Delivered bool `json:"delivered"`
	//
	Outcome Outcome `json:"outcome"`
	//
	StatusCode *int `json:"status_code"`
	//
	Error *AttemptError `json:"error"`
	//
	DurationMs int `json:"duration_ms"`
	// The `X-Service-Delivery` that the endpoint received.
	DeliveryID string `json:"delivery_id"`
	//
	Steps []Step `json:"steps"`
	//
	Request AttemptRequest `json:"request"`
	//
	Response *AttemptResponse `json:"response"`
}

// TestInput: Which event to pretend.
type TestInput struct {
	//
	Event *string `json:"event,omitempty"`
}

// Tokens: A pair of tokens, and their account.
type Tokens struct {
	// A JWT; send it as a Bearer token.
	AccessToken string `json:"access_token"`
	// Works once; lasts 180 days.
	RefreshToken string `json:"refresh_token"`
	//
	TokenType string `json:"token_type"`
	// How long the access token lasts, in seconds.
	ExpiresIn int `json:"expires_in"`
	//
	Account Account `json:"account"`
}

// Unavailable: What cannot be bought, and why.
type Unavailable struct {
	//
	ProductID string `json:"product_id"`
	//
	SKUID *string `json:"sku_id"`
	//
	Reason Reason `json:"reason"`
}

// Usage: What is left of the account's rate budget after this request.
type Usage struct {
	//
	RequestsPerMinute int `json:"requests_per_minute"`
	// Requests that fit now.
	Remaining int `json:"remaining"`
	// Until all is back.
	ResetsInSeconds int `json:"resets_in_seconds"`
}

// WebhookHealth: How an endpoint did in the last 24 hours.
type WebhookHealth struct {
	//
	Health Health `json:"health"`
	//
	FailingSince *time.Time `json:"failing_since"`
	//
	DisabledReason *string `json:"disabled_reason"`
	// Of attempts, 0 to 1; null without any.
	SuccessRate *float64 `json:"success_rate"`
	//
	Attempts int `json:"attempts"`
	// At the most.
	P50Ms *int `json:"p50_ms"`
	// At the most.
	P99Ms *int `json:"p99_ms"`
	// How many deliveries may be under way to it at once.
	Concurrency int `json:"concurrency"`
	// Counted up to 10,001.
	Pending int `json:"pending"`
	//
	OldestDueSeconds *float64 `json:"oldest_due_seconds"`
	//
	LastSuccessAt *time.Time `json:"last_success_at"`
	//
	LastFailureAt *time.Time `json:"last_failure_at"`
}
