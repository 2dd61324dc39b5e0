"""The JSON of the API as types; servers may send more fields and values."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class Account(TypedDict):
    """An account."""

    id: str
    email: str
    """ASCII only; case does not matter."""
    name: str
    """What people call it."""
    roles: list[Role]
    plan: Plan
    created_at: str


class Address(TypedDict):
    """Where it is shipped to."""

    name: str
    phone: str
    province: str
    city: str
    district: str
    detail: str
    postal_code: str | None


class AddressInput(TypedDict):
    """Where to ship to, in China."""

    name: str
    phone: str
    province: str
    city: str
    district: str
    detail: str
    postal_code: NotRequired[str | None]


class AddressWarning(TypedDict):
    """What is unusual about the address; the order can be placed all the same."""

    pointer: str
    code: str
    message: str


class AdminAccount(TypedDict):
    """An account as operators see it."""

    id: str
    email: str
    """ASCII only; case does not matter."""
    name: str
    """What people call it."""
    roles: list[Role]
    plan: Plan
    created_at: str
    locked_at: str | None
    lock_reason: str | None
    updated_at: str


class AdminAccountPage(TypedDict):
    """One page of a list."""

    items: list[AdminAccount]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


class AdminSubscription(TypedDict):
    """A subscription, with the account that it belongs to."""

    id: str
    url: str
    """HTTPS in production; `http` and localhost in development too."""
    events: list[Literal["order.updated", "payment.updated"]]
    is_active: bool
    description: str
    catch_up: bool
    """Whether missed events are replayed automatically when the endpoint works again."""
    headers: dict[str, str]
    """The names of its own headers; values are not shown."""
    standard_webhooks: bool
    """Whether the headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`,
    `webhook-signature`) are sent as well.
    """
    filter: Filter | None
    disabled_reason: str | None
    """`failing`: switched off, since all deliveries failed for five days."""
    health: Health
    failing_since: str | None
    created_at: str
    updated_at: str
    secret_rotated_at: str | None
    account_id: str


class AdminSubscriptionPage(TypedDict):
    """One page of a list."""

    items: list[AdminSubscription]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


class AdvanceInput(TypedDict):
    """Where to move an order on a simulated platform."""

    to: Literal[
        "cancelled",
        "closed",
        "completed",
        "expired",
        "paid",
        "partially_shipped",
        "price_changed",
        "received",
        "refund_agreed",
        "refund_completed",
        "refund_refused",
        "shipped",
    ]
    total_cny: NotRequired[float | None]
    """With `price_changed`: what it costs from now on."""


class ApproveInput(TypedDict):
    """The amount that the approver saw."""

    amount_cny: NotRequired[float | None]
    """If the order costs something else: 409 `amount_changed`."""


class AttemptError(TypedDict):
    """Why an attempt did not deliver."""

    code: str
    message: str


class AttemptRequest(TypedDict):
    """What was sent."""

    url: str | None
    headers: list[Header]
    """Empty where nothing is known to have been sent. The values of headers that the subscription
    adds are masked.
    """
    body: str | None
    """Null when the event is no longer kept."""


class AttemptResponse(TypedDict):
    """What came back: the headers, and the first 4 KiB of the body."""

    status_code: int
    headers: list[Header]
    body: str


class Audit(TypedDict):
    """One act: who did what to whom, when and from where."""

    id: str
    at: str
    action: str
    actor: str
    """An e-mail, or `command line`."""
    actor_account: str | None
    credential: str | None
    """The API key or session that was used."""
    agent: str | None
    """The program that acted, as it called itself (`X-Agent-Name`)."""
    address: str | None
    request_id: str | None
    account: str | None
    """The account that it concerns."""
    subject: str
    details: dict[str, Any]


class AuditPage(TypedDict):
    """One page of a list."""

    items: list[Audit]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


Capability = Literal[
    "cancel",
    "create",
    "detail",
    "image_search",
    "notices",
    "pay_auto",
    "pay_link",
    "preview",
    "refund",
    "search",
]
"""What a marketplace can be asked to do. More values may be added later: accept unknown values."""


class Cart(TypedDict):
    """The cart, in the order in which its lines were added."""

    items: list[CartItem]
    pieces: int
    """The sum of all quantities."""
    goods_amount_cny: float | None
    """What the pieces cost at the prices that were seen, without freight and discounts; null if a
    price is unknown. A preview has the exact amounts.
    """


class CartItem(TypedDict):
    """A line of the cart: a product or variant, as it was seen when it was added."""

    id: str
    platform: str
    """`sandbox`, `alibaba` (or `1688`), `taobao`."""
    product_id: str
    sku_id: str | None
    quantity: int
    title: str | None
    title_translated: str | None
    image_url: str | None
    attributes: dict[str, str] | None
    unit_price_cny: float | None
    """What one piece cost, without freight and discounts."""
    seller: Seller
    created_at: str
    updated_at: str


class CartItemInput(TypedDict):
    """What to add to the cart. `sku_id` is needed where the product has variants."""

    product_id: str
    quantity: int
    sku_id: NotRequired[str | None]
    platform: str
    """`sandbox`, `alibaba` (or `1688`), `taobao`."""


class CartItemPatch(TypedDict):
    """What to change about a line of the cart."""

    quantity: int


class CartOrder(TypedDict):
    """The result of ordering from the cart, group by group."""

    groups: list[OrderedGroup]
    complete: bool
    """Whether every group has its order. If not, a repeat with the same Idempotency-Key orders
    what is missing.
    """


class CartPreview(TypedDict):
    """What the groups would cost now; the sum leaves out groups with an error."""

    groups: list[GroupPreview]
    total_amount_cny: float
    """In CNY, at most two decimals."""


class CartSelectionInput(TypedDict):
    """What of the cart to preview or to order, and where to ship it."""

    address: NotRequired[AddressInput | None]
    """Where to ship to."""
    address_id: NotRequired[str | None]
    """An address of your address book, instead of `address`."""
    lines: NotRequired[list[str] | None]
    """The ids of lines of your cart; all of its lines if none are named."""


class Change(TypedDict):
    """A change of an order."""

    version: int
    at: str
    cause: str
    """`accepted`, `create`, `sync`, `pay`, `cancel`, `payment_requested`, `payment_approved`,
    `refund_requested`, …
    """
    by: Person | None
    """Who asked for it; null: the platform, or a job."""
    changes: dict[str, Any]
    """Each field of the order that changed, `from` and `to`."""
    events: list[str]
    """The events that it caused."""


class ChangePage(TypedDict):
    """One page of a list."""

    items: list[Change]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


CloseReason = Literal["buyer", "other", "platform", "seller", "timeout"]
"""Who or what closed an order. More values may be added later: accept unknown values."""


class Connection(TypedDict):
    """Our connection to a marketplace, as operators see it; secrets are never shown."""

    platform: str
    """`sandbox`, `alibaba` (or `1688`), `taobao`."""
    app_key: str
    connection: Literal["connected", "expired", "expiring", "none"]
    """More values may be added later: accept unknown values."""
    owner: str | None
    """The account that authorised us."""
    access_expires_at: str | None
    refresh_expires_at: str | None
    failure: str | None
    """Why the last token refresh failed."""
    authorize_url: str
    """Open it, authorise, and send the `code` and `state` it redirects with."""


class CredentialsInput(TypedDict):
    """Credentials to set. Send the application once, then `code` and `state`, or tokens.

    The page at `authorize_url` redirects with both. The state is valid for 30 minutes, once,
    and only with the session or API key that requested the `authorize_url`.
    """

    app_key: NotRequired[str | None]
    app_secret: NotRequired[str | None]
    code: NotRequired[str | None]
    state: NotRequired[str | None]
    redirect_uri: NotRequired[str | None]
    access_token: NotRequired[str | None]
    refresh_token: NotRequired[str | None]


class Delivery(TypedDict):
    """One attempt."""

    id: str
    """The `X-Service-Delivery` that the endpoint received."""
    event_id: str
    event: Literal["order.updated", "payment.updated"]
    """More values may be added later: accept unknown values."""
    order: str | None
    attempt: int
    trigger: DeliveryTrigger
    outcome: Outcome
    final: bool
    """Whether the delivery ended with this attempt."""
    late: bool
    """Whether its result came after its lease had expired."""
    status_code: int | None
    error: AttemptError | None
    started_at: str
    duration_ms: int | None
    next_attempt_at: str | None


class DeliveryDetail(TypedDict):
    """One attempt, with what was sent and what came back."""

    id: str
    """The `X-Service-Delivery` that the endpoint received."""
    event_id: str
    event: Literal["order.updated", "payment.updated"]
    """More values may be added later: accept unknown values."""
    order: str | None
    attempt: int
    trigger: DeliveryTrigger
    outcome: Outcome
    final: bool
    """Whether the delivery ended with this attempt."""
    late: bool
    """Whether its result came after its lease had expired."""
    status_code: int | None
    error: AttemptError | None
    started_at: str
    duration_ms: int | None
    next_attempt_at: str | None
    request: AttemptRequest
    response: AttemptResponse | None


class DeliveryPage(TypedDict):
    """One page of a list."""

    items: list[Delivery]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


DeliveryTrigger = Literal["event", "recover", "redeliver", "test"]
"""Why something is delivered. More values may be added later: accept unknown values."""


class Diff(TypedDict):
    """Orders that differ from what the caller has, as they are now, and ids of none of theirs."""

    orders: list[Order]
    unknown: list[str]
    """No orders of yours."""


class DiffInput(TypedDict):
    """The orders that the caller has, and when they last changed there."""

    orders: list[KnownOrder]


class EventBody(TypedDict):
    """The body of every delivery, and of an item of the journal."""

    id: str
    """The same in every delivery of this event: de-duplicate by it."""
    event: Literal["order.updated", "payment.updated"]
    """More values may be added later: accept unknown values."""
    created_at: str
    data: EventData


class EventCause(TypedDict):
    """Something that causes an event."""

    cause: str
    description: str
    example: EventBody
    """The body of a delivery for this cause."""


class EventData(TypedDict):
    """What the event is about."""

    order: OrderNews


class EventPage(TypedDict):
    """A stretch of the journal, oldest first."""

    items: list[EventBody]
    first_number: int | None
    """The number of the first item in your journal; null if there is none."""
    last_number: int | None
    """The number of the last item. Numbers rise by exactly one: without filters a page is complete
    if `last_number - first_number + 1` is the number of its items.
    """
    has_more: bool
    """Whether more are there already."""
    next_cursor: str
    """Send it as `after` to go on from here, now or later."""


class EventType(TypedDict):
    """A kind of event."""

    event: Literal["order.updated", "payment.updated"]
    """More values may be added later: accept unknown values."""
    description: str
    causes: list[EventCause]


class EventTypePage(TypedDict):
    """One page of a list."""

    items: list[EventType]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


class Explain(TypedDict):
    """What became of an event at a subscription."""

    event_id: str
    verdict: Literal[
        "cancelled",
        "created_later",
        "delivered",
        "failed",
        "filtered",
        "inactive",
        "not_queued",
        "under_way",
        "waiting",
    ]
    """More values may be added later: accept unknown values."""
    explanation: str
    attempts: list[Delivery]


class Failure(TypedDict):
    """Why it was rejected for good."""

    code: str
    message: str


class Filter(TypedDict):
    """Which events are delivered, by their order; null: any."""

    platforms: list[str] | None
    statuses: (
        list[
            Literal[
                "cancelled",
                "closed",
                "completed",
                "create_failed",
                "creating",
                "paid",
                "partially_shipped",
                "pending_payment",
                "received",
                "shipped",
                "unknown",
            ]
        ]
        | None
    )


class FilterInput(TypedDict):
    """Which events to deliver, by their order; an empty filter leaves nothing out."""

    platforms: NotRequired[list[str] | None]
    statuses: NotRequired[
        list[
            Literal[
                "cancelled",
                "closed",
                "completed",
                "create_failed",
                "creating",
                "paid",
                "partially_shipped",
                "pending_payment",
                "received",
                "shipped",
                "unknown",
            ]
        ]
        | None
    ]


class GroupPreview(TypedDict):
    """What a group would cost now, or the error that its preview has."""

    platform: str
    """`sandbox`, `alibaba` (or `1688`), `taobao`."""
    seller: Seller
    """Null where the lines have several, or it is not known."""
    items: list[CartItem]
    error: GroupProblem | None
    """Null if the group has no error."""
    preview: Preview | None
    """Null if there is an error."""


class GroupProblem(TypedDict):
    """Why a group was not previewed or ordered, as the same order alone would be answered."""

    code: str
    title: str
    status: int
    """The HTTP status that this error has."""
    detail: str
    unavailable_items: list[Unavailable]
    retry_after: int | None
    """In how many seconds to try again."""


class Header(TypedDict):
    """One header line. Headers are listed in their order, and a repeated name is there twice."""

    name: str
    value: str


Health = Literal["disabled", "failing", "ok"]
"""How an endpoint does. More values may be added later: accept unknown values."""


class ImageSearch(TypedDict):
    """A page of products that look like a picture."""

    items: list[Offer]
    paginate: Paginate
    image_id: str
    """Send it instead of `image` for other pages of this search."""


class ImageSearchInput(TypedDict):
    """A search by a picture: send `image` once, then its `image_id` for other pages and filters."""

    platform: str
    """`sandbox`, `alibaba` (or `1688`), `taobao`."""
    page: NotRequired[int]
    size: NotRequired[int]
    sort: NotRequired[Sort]
    min_price_cny: NotRequired[float | None]
    max_price_cny: NotRequired[float | None]
    lang: NotRequired[str]
    """The language of translations."""
    image: NotRequired[str | None]
    """A JPEG, PNG or WebP picture in base64, 3 MiB at most."""
    image_id: NotRequired[str | None]
    """That of an earlier search by your account at this marketplace."""


class Import(TypedDict):
    """An import: a file with many orders, and how far it has come."""

    id: str
    file_name: str
    status: ImportStatus
    """`checking`: previewed with the platforms; `ready`: to be confirmed; `ordering`; `done`."""
    columns: dict[str, str]
    """The column of each field, by its name in the file."""
    unused_columns: list[str]
    counts: ImportCounts
    goods_amount_cny: float
    """In CNY, at most two decimals."""
    freight_cny: float
    """In CNY, at most two decimals."""
    discount_cny: float
    """In CNY, at most two decimals."""
    total_amount_cny: float
    """Of the orders that can be placed, or were placed."""
    confirmed_total_cny: float | None
    created_at: str
    confirmed_at: str | None
    ended_at: str | None


class ImportConfirmInput(TypedDict):
    """The total that the import showed."""

    expected_total_cny: float
    """If the import costs something else, nothing is ordered: 409."""


class ImportCounts(TypedDict):
    """How many rows and orders there are, and what became of them."""

    rows: int
    rows_failed: int
    """In orders that failed."""
    orders: int
    orders_waiting: int
    """Not checked with the platform yet."""
    orders_ready: int
    """Checked, and not placed yet."""
    orders_failed: int
    orders_placed: int


class ImportDetail(TypedDict):
    """An import with a page of its rows, in the order of the file."""

    id: str
    file_name: str
    status: ImportStatus
    """`checking`: previewed with the platforms; `ready`: to be confirmed; `ordering`; `done`."""
    columns: dict[str, str]
    """The column of each field, by its name in the file."""
    unused_columns: list[str]
    counts: ImportCounts
    goods_amount_cny: float
    """In CNY, at most two decimals."""
    freight_cny: float
    """In CNY, at most two decimals."""
    discount_cny: float
    """In CNY, at most two decimals."""
    total_amount_cny: float
    """Of the orders that can be placed, or were placed."""
    confirmed_total_cny: float | None
    created_at: str
    confirmed_at: str | None
    ended_at: str | None
    items: list[ImportRow]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


ImportOrderStatus = Literal["checked", "failed", "placed", "waiting"]
"""How far an order of an import has come. More values may be added later: accept unknown values."""


class ImportRow(TypedDict):
    """A row of the file, and what became of it."""

    row: int
    """As a spreadsheet numbers it."""
    order_ref: str | None
    product_id: str | None
    sku_id: str | None
    quantity: str | None
    """As it is in the file."""
    status: ImportOrderStatus
    """Of its order: a failed one is not ordered."""
    total_amount_cny: float | None
    """Of its order."""
    order: str | None
    """The order that it became."""
    errors: list[RowError]
    warnings: list[RowError]
    """What is unusual and keeps nothing from being ordered: a province, city or district that is
    not known.
    """


ImportStatus = Literal["checking", "done", "ordering", "ready"]
"""How far an import has come. More values may be added later: accept unknown values."""


class Job(TypedDict):
    """A replay and how far it has come."""

    id: str
    status: Literal["cancelled", "done", "running"]
    """More values may be added later: accept unknown values."""
    trigger: Literal["catch_up", "request"]
    """More values may be added later: accept unknown values."""
    since: str
    until: str
    count: int
    """Events when it began, counted up to 10,000."""
    count_is_exact: bool
    """False: there are more events than `count`, or there may be: counting stops at 10,000 events,
    or after it has looked at 50,000.
    """
    queued: int
    delivered: int
    failed: int
    created_at: str
    ended_at: str | None
    """When everything was queued, or it was cancelled."""


class JobPage(TypedDict):
    """One page of a list."""

    items: list[Job]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


class Key(TypedDict):
    """An API key, without the key itself."""

    scopes: list[Scope] | None
    """Null: it can do what its account can."""
    expires_at: str | None
    """Null: never."""
    allowed_cidrs: list[str] | None
    """Null: it can be used from anywhere."""
    id: str
    name: str
    prefix: str
    """How the key begins."""
    created_at: str
    last_used_at: str | None
    """Exact to a minute; null: never."""
    revoked_at: str | None
    """Null while it works."""


class KeyPage(TypedDict):
    """One page of a list."""

    items: list[Key]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


class KnownOrder(TypedDict):
    """An order as the caller has it."""

    id: str
    updated_at: str


class Line(TypedDict):
    """What is bought."""

    product_id: str
    sku_id: str | None
    quantity: int


class LineInput(TypedDict):
    """What to buy. `sku_id` is needed where the product has variants."""

    product_id: str
    quantity: int
    sku_id: NotRequired[str | None]


class LockInput(TypedDict):
    """Why the account is locked; operators see it."""

    reason: str


class LoginInput(TypedDict):
    """An e-mail and its password."""

    email: str
    password: str


class Me(TypedDict):
    """The caller's own account."""

    id: str
    email: str
    """ASCII only; case does not matter."""
    name: str
    """What people call it."""
    roles: list[Role]
    plan: Plan
    created_at: str
    usage: Usage
    api_key: MyKey | None
    """Null for a session."""


class MyKey(TypedDict):
    """The API key that the request was sent with."""

    scopes: list[Scope] | None
    """Null: it can do what its account can."""
    expires_at: str | None
    """Null: never."""
    allowed_cidrs: list[str] | None
    """Null: it can be used from anywhere."""
    id: str


class NewAccountInput(TypedDict):
    """An account to create. Without a password, create a password link for its owner next."""

    email: str
    """ASCII only; case does not matter."""
    name: NotRequired[str]
    """What people call it."""
    roles: NotRequired[list[Role]]
    plan: NotRequired[Plan]
    password: NotRequired[str | None]


class NewKey(TypedDict):
    """A new API key, with the key itself, which is shown only once."""

    scopes: list[Scope] | None
    """Null: it can do what its account can."""
    expires_at: str | None
    """Null: never."""
    allowed_cidrs: list[str] | None
    """Null: it can be used from anywhere."""
    id: str
    name: str
    prefix: str
    """How the key begins."""
    created_at: str
    last_used_at: str | None
    """Exact to a minute; null: never."""
    revoked_at: str | None
    """Null while it works."""
    key: str
    """Send it as `x-api-key`."""


class NewKeyInput(TypedDict):
    """A name that says what the key is for, and what it is restricted to."""

    name: str
    scopes: NotRequired[list[Scope] | None]
    """All that the key may do; null or left out: what its account can."""
    expires_at: NotRequired[str | None]
    """From then on it is rejected; null or left out: never."""
    allowed_cidrs: NotRequired[list[str] | None]
    """The networks that it can be used from; null or left out: any."""


class NewSubscription(TypedDict):
    """A subscription that was just created, with its secret, which is never shown again."""

    id: str
    url: str
    """HTTPS in production; `http` and localhost in development too."""
    events: list[Literal["order.updated", "payment.updated"]]
    is_active: bool
    description: str
    catch_up: bool
    """Whether missed events are replayed automatically when the endpoint works again."""
    headers: dict[str, str]
    """The names of its own headers; values are not shown."""
    standard_webhooks: bool
    """Whether the headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`,
    `webhook-signature`) are sent as well.
    """
    filter: Filter | None
    disabled_reason: str | None
    """`failing`: switched off, since all deliveries failed for five days."""
    health: Health
    failing_since: str | None
    created_at: str
    updated_at: str
    secret_rotated_at: str | None
    secret: str
    """The key of the signatures, as the whole string."""
    standard_webhooks_secret: NotRequired[str]
    """The same secret as libraries of Standard Webhooks read it; only if `standard_webhooks` is
    on.
    """


class Notice(TypedDict):
    """That the notice arrived."""

    received: bool


class Offer(TypedDict):
    """A product in search results."""

    id: str
    platform: str
    """`sandbox`, `alibaba` (or `1688`), `taobao`."""
    title: str
    title_translated: str | None
    url: str | None
    image_url: str | None
    price_cny: float | None
    price_max_cny: float | None
    min_order_quantity: int | None
    sold: int | None
    """Units sold lately."""
    repurchase_rate: float | None
    """0 to 1."""
    seller: Seller


class Order(TypedDict):
    """An order."""

    id: str
    platform: str
    """`sandbox`, `alibaba` (or `1688`), `taobao`."""
    order_id: str | None
    """Its id on the platform; null before it has one."""
    status: OrderStatus
    payment_status: PaymentStatus
    platform_payment_status: PaymentState
    total_amount_cny: float | None
    updated_at: str
    account_id: str
    items: list[OrderItem]
    address: Address
    remark: str | None
    goods_amount_cny: float | None
    freight_cny: float | None
    discount_cny: float | None
    paid_amount_cny: float
    """In CNY, at most two decimals."""
    refunded_amount_cny: float
    """In CNY, at most two decimals."""
    platform_orders: list[PlatformOrder]
    shipments: list[Shipment]
    refunds: list[Refund]
    payment: Payment | None
    """The payment request that is open."""
    platform_status: str | None
    """The platform's own status."""
    failure: Failure | None
    cancel_requested: bool
    dispute: bool
    paid_outside: bool
    """It was paid on the platform's own pages, without an approval."""
    close_reason: CloseReason | None
    pay_before: str | None
    waiting_for: Literal[
        "approval",
        "none",
        "payment",
        "payment_result",
        "platform_create",
        "receipt",
        "seller_shipment",
    ]
    """More values may be added later: accept unknown values."""
    external_id: str | None
    metadata: dict[str, str]
    created_at: str
    synced_at: str | None
    """When the platform was last asked, with success."""
    next_sync_at: str | None
    stale: bool
    """The platform could not be read: this is as of the last sync."""
    version: int


class OrderInput(TypedDict):
    """An order to preview or to place."""

    platform: str
    """`sandbox`, `alibaba` (or `1688`), `taobao`."""
    items: list[LineInput]
    address: AddressInput
    remark: NotRequired[str | None]
    expected_total_cny: NotRequired[float | None]
    """What a preview said. If the order costs something else: 409 `price_changed`, and nothing is
    ordered. A preview takes no notice of it.
    """
    external_id: NotRequired[str | None]
    metadata: NotRequired[dict[str, str]]
    """Up to 50 texts of yours, kept with the order."""


class OrderItem(TypedDict):
    """What is bought, as it was seen when the order was placed; null where nothing is known."""

    product_id: str
    sku_id: str | None
    quantity: int
    title: str | None
    title_translated: str | None
    """In English."""
    image_url: str | None
    """A picture of the variant, else of the product."""
    attributes: dict[str, str] | None
    """Of the variant; empty where the product has no variants."""
    unit_price_cny: float | None
    """For one piece at this quantity, without freight and discounts."""
    seller: Seller


class OrderNews(TypedDict):
    """The order as it was right after the change."""

    id: str
    platform: str
    order_id: str | None
    """Its id on the platform; null before it has one."""
    status: str
    payment_status: str
    platform_payment_status: str
    total_amount_cny: float | None
    updated_at: str
    """Rises with every change: of two events the one with the later is newer."""


class OrderPage(TypedDict):
    """One page of a list."""

    items: list[Order]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


OrderStatus = Literal[
    "cancelled",
    "closed",
    "completed",
    "create_failed",
    "creating",
    "paid",
    "partially_shipped",
    "pending_payment",
    "received",
    "shipped",
    "unknown",
]
"""Where an order stands on its marketplace. Only what the marketplace says writes it. More values
may be added later: accept unknown values.
"""


class OrderedGroup(TypedDict):
    """The order that a group became, or the error that kept it from being ordered."""

    platform: str
    """`sandbox`, `alibaba` (or `1688`), `taobao`."""
    seller: Seller
    """Null where the lines have several, or it is not known."""
    items: list[CartItem]
    error: GroupProblem | None
    """Null if the group has no error."""
    order: Order | None
    """Null if there is an error."""


Outcome = Literal[
    "blocked_address",
    "cancelled",
    "connect_failed",
    "connection_closed",
    "delivered",
    "dns_error",
    "http_error",
    "invalid_response",
    "timeout",
    "tls_error",
    "unknown",
]
"""How an attempt ended. More values may be added later: accept unknown values."""


class Paginate(TypedDict):
    """The number and size of this page, and the total of all pages."""

    total: int
    current: int
    size: int


class PasswordInput(TypedDict):
    """The current password, and the one that replaces it."""

    current_password: str
    new_password: str
    """At least 12 characters."""


class PasswordLink(TypedDict):
    """A link by which its holder chooses a password, once. It is shown only here."""

    url: str
    expires_at: str


class PastedAddress(TypedDict):
    """The fields of an address; null where nothing was recognised."""

    name: str | None
    phone: str | None
    province: str | None
    city: str | None
    district: str | None
    detail: str | None
    """The street address, and everything that was not recognised."""
    postal_code: str | None


class PastedAddressInput(TypedDict):
    """A text with an address."""

    text: str


PayMode = Literal["auto", "link"]
"""How an approved payment is made: we debit, or a person follows a link. More values may be added
later: accept unknown values.
"""


class Payment(TypedDict):
    """A request to pay an order, and what became of it."""

    id: str
    status: RequestStatus
    amount_cny: float
    """In CNY, at most two decimals."""
    mode: PayMode
    requested_by: Person
    requested_at: str
    note: str | None
    """Why it is requested, in the requester's words."""
    decided_by: Person | None
    """Who approved, rejected or withdrew it."""
    decided_at: str | None
    """When they did."""
    reason: str | None
    """Of a rejection in the approver's words; of `superseded` one of `amount_changed`,
    `paid_outside`, `order_closed`.
    """
    pay_url: str | None
    """Where a person pays, in pay mode `link`."""
    failure: Failure | None


class PaymentInput(TypedDict):
    """The amount that the buyer saw, and why it should be paid."""

    amount_cny: NotRequired[float | None]
    """If the order costs something else: 409 `amount_changed`."""
    note: NotRequired[str | None]
    """For whoever approves it."""


class PaymentPage(TypedDict):
    """One page of a list."""

    items: list[Payment]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


PaymentState = Literal[
    "closed",
    "failed",
    "paid",
    "partially_paid",
    "partially_refunded",
    "processing",
    "refunded",
    "unknown",
    "unpaid",
]
"""The payment status of an order on its marketplace. More values may be added later: accept
unknown values.
"""

PaymentStatus = Literal[
    "approved",
    "cancelled",
    "failed",
    "paid",
    "partially_refunded",
    "pending_approval",
    "processing",
    "refunded",
    "rejected",
    "unpaid",
]
"""Where the money of an order stands with us. Commands and confirmed facts write it. More values
may be added later: accept unknown values.
"""


class PaymentWithOrder(TypedDict):
    """A request to pay, with the order that it is about."""

    id: str
    status: RequestStatus
    amount_cny: float
    """In CNY, at most two decimals."""
    mode: PayMode
    requested_by: Person
    requested_at: str
    note: str | None
    """Why it is requested, in the requester's words."""
    decided_by: Person | None
    """Who approved, rejected or withdrew it."""
    decided_at: str | None
    """When they did."""
    reason: str | None
    """Of a rejection in the approver's words; of `superseded` one of `amount_changed`,
    `paid_outside`, `order_closed`.
    """
    pay_url: str | None
    """Where a person pays, in pay mode `link`."""
    failure: Failure | None
    order: Order


class PaymentWithOrderPage(TypedDict):
    """One page of a list."""

    items: list[PaymentWithOrder]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


class Pending(TypedDict):
    """A delivery that is not over."""

    event_id: str
    event: Literal["order.updated", "payment.updated"] | None
    order: str | None
    attempt: int
    """The attempt that comes next."""
    trigger: DeliveryTrigger
    due_at: str
    under_way: bool
    """Whether it is being sent right now."""


class PendingPage(TypedDict):
    """One page of a list."""

    items: list[Pending]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


class Person(TypedDict):
    """An account, with the e-mail that it had then."""

    account_id: str
    email: str
    agent: str | None
    """The program that acted for it, if it gave its name."""


Plan = Literal["enterprise", "free", "pro"]
"""How often an account may call. More values may be added later: accept unknown values."""


class PlanInput(TypedDict):
    """The plan to put the account on."""

    plan: Plan


class Platform(TypedDict):
    """A marketplace: its capabilities, and whether it is connected here."""

    platform: str
    """`sandbox`, `alibaba` (or `1688`), `taobao`."""
    name: str
    capabilities: list[Capability]
    configured: bool
    """Whether it has credentials."""
    connection: Literal["connected", "expired", "expiring", "none"]
    """`expiring`: the authorisation ends within a week. `none`: there is none. More values may be
    added later: accept unknown values.
    """
    simulated: bool
    """No real money, no real goods."""
    currency: str
    max_lines: int
    """Lines in one order."""
    single_seller: bool
    """Whether an order's lines must be of one seller."""


class PlatformOrder(TypedDict):
    """One of the orders on the platform that this order became."""

    order_id: str
    status: PlatformOrderStatus | None
    platform_status: str
    payment_status: PaymentState
    total_amount_cny: float
    """In CNY, at most two decimals."""
    refunded_amount_cny: float
    """In CNY, at most two decimals."""


PlatformOrderStatus = Literal[
    "cancelled",
    "closed",
    "completed",
    "creating",
    "paid",
    "partially_shipped",
    "pending_payment",
    "received",
    "shipped",
    "unknown",
]
"""The status of an order on its marketplace, in terms that all marketplaces share. More values may
be added later: accept unknown values.
"""


class PlatformPage(TypedDict):
    """One page of a list."""

    items: list[Platform]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


class Preview(TypedDict):
    """What an order would cost now."""

    sellers: list[SellerPreview]
    total_amount_cny: float
    """In CNY, at most two decimals."""
    unavailable_items: list[Unavailable]
    warnings: list[AddressWarning]
    """A province, city or district that is not known."""


class PriceRange(TypedDict):
    """The unit price from a quantity on."""

    min_quantity: int
    price_cny: float
    """In CNY, at most two decimals."""


class Problem(TypedDict):
    """A problem document (RFC 9457)."""

    type: str
    """Opens an explanation."""
    title: str
    status: int
    detail: str
    code: str
    """Stable; compare this."""
    request_id: str
    retry_after: NotRequired[int]
    """Seconds to wait."""
    errors: NotRequired[list[ProblemField]]
    current: NotRequired[str]
    """The state that forbids it."""
    allowed: NotRequired[list[str]]
    """The possible values."""
    upstream: NotRequired[ProblemUpstream]


class ProblemField(TypedDict):
    """A wrong field of the body, or a wrong query parameter."""

    pointer: str
    code: str
    message: str


class ProblemUpstream(TypedDict):
    """The marketplace's response."""

    platform: NotRequired[str]
    code: NotRequired[str]
    message: NotRequired[str]


class Product(TypedDict):
    """Everything about a product."""

    id: str
    platform: str
    """`sandbox`, `alibaba` (or `1688`), `taobao`."""
    title: str
    title_translated: str | None
    url: str | None
    image_url: str | None
    price_cny: float | None
    price_max_cny: float | None
    min_order_quantity: int | None
    sold: int | None
    """Units sold lately."""
    repurchase_rate: float | None
    """0 to 1."""
    seller: Seller
    skus: list[Sku]
    price_ranges: list[PriceRange]
    images: list[str]
    description: str | None
    stock: int | None
    shipping: dict[str, str]
    """Under the marketplace's own names; `attributes` has it in words."""
    attributes: list[ProductAttribute]
    """Facts in words: material, weight, size of the parcel, dispatch."""


class ProductAttribute(TypedDict):
    """A fact about a product in words."""

    name: str
    value: str
    unit: str | None
    """Null where it has none."""


class ProductReference(TypedDict):
    """A product by its marketplace and its ID there."""

    platform: str
    """`sandbox`, `alibaba` (or `1688`), `taobao`."""
    product_id: str
    url: str | None


class Queue(TypedDict):
    """What waits for one subscription."""

    subscription_id: str
    account_id: str | None
    """Null: it was deleted."""
    url: str | None
    pending: int
    """Counted up to 10,001."""
    first_due_at: str
    failing_since: str | None
    concurrency: int | None


class QueuePage(TypedDict):
    """One page of a list."""

    items: list[Queue]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


class Readiness(TypedDict):
    """Whether the service is ready, and what is wrong if not."""

    status: str
    problems: list[str]


Reason = Literal[
    "account_frozen",
    "already_paid",
    "bad_address",
    "below_minimum",
    "mixed_batch",
    "no_funds",
    "not_for_sale",
    "not_found",
    "not_supported",
    "other",
    "out_of_stock",
    "price_changed",
    "refund_too_large",
    "several_sellers",
    "wrong_state",
]
"""Why a marketplace rejected a call, in terms that all marketplaces share. More values may be
added later: accept unknown values.
"""


class Recover(TypedDict):
    """A replay that was begun, or only counted."""

    id: str | None
    """Null after a dry run."""
    count: int
    """Counted up to 10,000."""
    count_is_exact: bool
    """False: there are more events than `count`, or there may be: counting stops at 10,000 events,
    or after it has looked at 50,000.
    """


class RecoverInput(TypedDict):
    """Which events to deliver again."""

    since: str
    until: NotRequired[str | None]
    """Left out: until now."""
    order: NotRequired[str | None]
    include: NotRequired[Literal["all", "undelivered"]]
    """`undelivered`: failed, cancelled and missed ones."""
    dry_run: NotRequired[bool]
    """Only count, up to 10,000."""


class RefreshInput(TypedDict):
    """The refresh token of the pair to replace."""

    refresh_token: str
    """Works once; lasts 180 days."""


class Refund(TypedDict):
    """A refund. `failure` is there when the platform never got it."""

    id: str
    platform_refund_id: str | None
    order_id: str
    status: RefundState
    type: RefundKind | None
    amount_cny: float
    """In CNY, at most two decimals."""
    freight_cny: float
    """In CNY, at most two decimals."""
    reason: str | None
    note: str | None
    failure: Failure | None
    requested_at: str
    updated_at: str


class RefundInput(TypedDict):
    """How much to refund, and why."""

    type: RefundKind
    reason: str
    amount_cny: NotRequired[float | None]
    """For the goods. Left out: all that is left of the goods. 0 only with `freight_cny` above 0:
    for the freight alone.
    """
    freight_cny: NotRequired[float | None]
    """For the freight, on top."""
    note: NotRequired[str | None]
    order_id: NotRequired[str | None]
    """Of an order that the platform split: of which part of it, by the platform's id."""


RefundKind = Literal["refund_only", "return_and_refund"]
"""Money back, with or without the goods going back. More values may be added later: accept unknown
values.
"""


class RefundPage(TypedDict):
    """One page of a list."""

    items: list[Refund]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


RefundState = Literal["approved", "closed", "refused", "requested", "succeeded"]
"""The status of a refund. More values may be added later: accept unknown values."""


class RejectInput(TypedDict):
    """Why it is rejected."""

    reason: str


RequestStatus = Literal[
    "approved",
    "failed",
    "paid",
    "pending_approval",
    "processing",
    "rejected",
    "superseded",
    "withdrawn",
]
"""Where a payment request stands. More values may be added later: accept unknown values."""


class Resolve(TypedDict):
    """The product that a text names."""

    platform: str | None
    """Null when the ID may be of several marketplaces."""
    product_id: str
    url: str | None
    candidates: list[ProductReference]
    """Each marketplace that the ID may be of; empty when it is clear."""


class ResolveInput(TypedDict):
    """A text that names a product."""

    text: str
    """A link to a product, a shared text that contains one, or a product ID."""
    platform: NotRequired[str | None]
    """Whose ID it is; a link names its own marketplace."""


Role = Literal["approver", "buyer", "operator"]
"""What an account may do on top of logging in. More values may be added later: accept unknown
values.
"""


class RolesInput(TypedDict):
    """All roles that the account shall have."""

    roles: list[Role]


class Rotated(TypedDict):
    """A new secret, which is never shown again."""

    id: str
    secret: str
    rotated_at: str
    standard_webhooks_secret: NotRequired[str]
    """The same secret as libraries of Standard Webhooks read it; only if `standard_webhooks` is
    on.
    """


class RowError(TypedDict):
    """What is wrong with a row."""

    column: str | None
    """Its name in the file; null: the whole row."""
    code: str
    message: str


class SavedAddress(TypedDict):
    """A saved address."""

    id: str
    label: str
    name: str
    phone: str
    province: str
    city: str
    district: str
    detail: str
    postal_code: str | None
    is_default: bool
    """Whether it is the default. If there are addresses, exactly one is: the first one, until
    another is made the default.
    """
    created_at: str
    updated_at: str


class SavedAddressInput(TypedDict):
    """An address to save."""

    name: str
    """The recipient."""
    phone: str
    province: str
    city: str
    district: str
    detail: str
    """Street, number, building and room."""
    postal_code: NotRequired[str | None]
    label: NotRequired[str]
    """A name by which people find it in the address book."""
    is_default: NotRequired[bool]
    """Whether it is the default. If there are addresses, exactly one is: the first one, until
    another is made the default.
    """


class SavedAddressPage(TypedDict):
    """One page of a list."""

    items: list[SavedAddress]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


class SavedAddressPatch(TypedDict):
    """What to change; what is left out stays. An empty `label` or `postal_code` clears it."""

    name: NotRequired[str | None]
    phone: NotRequired[str | None]
    province: NotRequired[str | None]
    city: NotRequired[str | None]
    district: NotRequired[str | None]
    detail: NotRequired[str | None]
    postal_code: NotRequired[str | None]
    label: NotRequired[str | None]
    is_default: NotRequired[bool | None]


Scope = Literal["order", "pay_request", "read", "webhooks"]
"""One permission of an API key. A key without scopes can do what its account can.

`read` reads and searches, `order` buys and keeps the address book, `pay_request` requests
payments and refunds, `webhooks` changes webhooks and sends events again. More values may be
added later: accept unknown values.
"""


class Search(TypedDict):
    """A page of products."""

    items: list[Offer]
    paginate: Paginate


class SearchInput(TypedDict):
    """A search on a marketplace."""

    platform: str
    """`sandbox`, `alibaba` (or `1688`), `taobao`."""
    page: NotRequired[int]
    size: NotRequired[int]
    sort: NotRequired[Sort]
    min_price_cny: NotRequired[float | None]
    max_price_cny: NotRequired[float | None]
    lang: NotRequired[str]
    """The language of translations."""
    q: str
    """Any language."""


class Seller(TypedDict):
    """The seller of a product."""

    id: str | None
    name: str | None


class SellerPreview(TypedDict):
    """One seller's part."""

    id: str | None
    """Null where the platform does not say."""
    items: list[Line]
    goods_amount_cny: float
    """In CNY, at most two decimals."""
    freight_cny: float
    """In CNY, at most two decimals."""
    discount_cny: float
    """In CNY, at most two decimals."""
    total_amount_cny: float
    """In CNY, at most two decimals."""


class Shipment(TypedDict):
    """A parcel, and what is in it; no items when the platform does not say."""

    order_id: str
    carrier: str | None
    tracking_number: str | None
    shipped_at: str | None
    items: list[ShipmentItem]


class ShipmentItem(TypedDict):
    """A line of the order that is in a parcel."""

    product_id: str
    sku_id: str | None
    quantity: int | None
    """How many pieces of it are in this parcel; null if they are spread over several parcels and
    the platform does not say how.
    """


class Sku(TypedDict):
    """A variant; an order names it as `sku_id`."""

    id: str
    attributes: dict[str, str]
    price_cny: float | None
    stock: int | None
    image_url: str | None


Sort = Literal["price_asc", "price_desc", "relevance", "sales_desc"]
"""The order of a search's results."""


class Step(TypedDict):
    """A step on the way to the endpoint."""

    step: Literal["connect", "dns", "http", "tls"]
    """More values may be added later: accept unknown values."""
    ok: bool | None
    """Null: not reached."""
    took_ms: int | None
    """From the start to its end."""
    days_to_expiry: int | None
    """Of the certificate, at the step `tls`."""
    note: str | None


class Subscription(TypedDict):
    """A subscription."""

    id: str
    url: str
    """HTTPS in production; `http` and localhost in development too."""
    events: list[Literal["order.updated", "payment.updated"]]
    is_active: bool
    description: str
    catch_up: bool
    """Whether missed events are replayed automatically when the endpoint works again."""
    headers: dict[str, str]
    """The names of its own headers; values are not shown."""
    standard_webhooks: bool
    """Whether the headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`,
    `webhook-signature`) are sent as well.
    """
    filter: Filter | None
    disabled_reason: str | None
    """`failing`: switched off, since all deliveries failed for five days."""
    health: Health
    failing_since: str | None
    created_at: str
    updated_at: str
    secret_rotated_at: str | None


class SubscriptionInput(TypedDict):
    """A subscription to create."""

    url: str
    """HTTPS in production; `http` and localhost in development too."""
    events: NotRequired[list[Literal["order.updated", "payment.updated"]]]
    is_active: NotRequired[bool]
    description: NotRequired[str]
    catch_up: NotRequired[bool]
    """Whether missed events are replayed automatically when the endpoint works again."""
    headers: NotRequired[dict[str, str]]
    """Headers that every request to the URL carries besides ours. Values are stored encrypted, and
    shown as asterisks.
    """
    standard_webhooks: NotRequired[bool]
    """Whether the headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`,
    `webhook-signature`) are sent as well.
    """
    filter: NotRequired[FilterInput | None]


class SubscriptionPage(TypedDict):
    """One page of a list."""

    items: list[Subscription]
    has_more: bool
    """Whether there is another page."""
    next_cursor: str | None
    """Send it as `cursor` to get the next page; null on the last."""


class SubscriptionPatch(TypedDict):
    """What to change; what is left out stays."""

    url: NotRequired[str | None]
    events: NotRequired[list[Literal["order.updated", "payment.updated"]] | None]
    is_active: NotRequired[bool | None]
    description: NotRequired[str | None]
    catch_up: NotRequired[bool | None]
    headers: NotRequired[dict[str, str] | None]
    standard_webhooks: NotRequired[bool | None]
    filter: NotRequired[FilterInput | None]


class Test(TypedDict):
    """What became of a test delivery."""

    delivered: bool
    outcome: Outcome
    status_code: int | None
    error: AttemptError | None
    duration_ms: int
    delivery_id: str
    """The `X-Service-Delivery` that the endpoint received."""
    steps: list[Step]
    request: AttemptRequest
    response: AttemptResponse | None


class TestInput(TypedDict):
    """Which event to pretend."""

    event: NotRequired[Literal["order.updated", "payment.updated"] | None]


class Tokens(TypedDict):
    """A pair of tokens, and their account."""

    access_token: str
    """A JWT; send it as a Bearer token."""
    refresh_token: str
    """Works once; lasts 180 days."""
    token_type: str
    expires_in: int
    """How long the access token lasts, in seconds."""
    account: Account


class Unavailable(TypedDict):
    """What cannot be bought, and why."""

    product_id: str
    sku_id: str | None
    reason: Reason


class Usage(TypedDict):
    """What is left of the account's rate budget after this request."""

    requests_per_minute: int
    remaining: int
    """Requests that fit now."""
    resets_in_seconds: int
    """Until all is back."""


class WebhookHealth(TypedDict):
    """How an endpoint did in the last 24 hours."""

    health: Health
    failing_since: str | None
    disabled_reason: str | None
    success_rate: float | None
    """Of attempts, 0 to 1; null without any."""
    attempts: int
    p50_ms: int | None
    """At the most."""
    p99_ms: int | None
    """At the most."""
    concurrency: int
    """How many deliveries may be under way to it at once."""
    pending: int
    """Counted up to 10,001."""
    oldest_due_seconds: float | None
    last_success_at: str | None
    last_failure_at: str | None
