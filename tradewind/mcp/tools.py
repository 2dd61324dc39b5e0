"""The tools of an agent: calls of the API. None approves, reveals a secret or gives access."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field

from tradewind.mcp import results
from tradewind.mcp.api_client import AgentCaller, ApiAnswer, ApiClient, Json, derived_key, path_of
from tradewind.mcp.problems import ApiProblem

_ID = "[0-7][0-9A-HJKMNP-TV-Z]{25}"
Platform = Annotated[
    str,
    Field(
        pattern="^[a-z0-9]{1,20}$",
        description="The marketplace: a `platform` of list_marketplaces.",
    ),
]
ProductId = Annotated[str, Field(min_length=1, max_length=50, description="Of a search result.")]
OrderId = Annotated[str, Field(pattern=f"^ORD{_ID}$", description="Our id of the order, ORD….")]
EventId = Annotated[str, Field(pattern=f"^evt_{_ID}$", description="The id of an event, evt_….")]
WebhookId = Annotated[str, Field(pattern=f"^whk_{_ID}$", description="Of list_webhooks, whk_….")]
AddressId = Annotated[
    str,
    Field(pattern=f"^adr_{_ID}$", description="Of list_addresses: only saved addresses are used."),
]
Cny = Annotated[float, Field(ge=0, le=1_000_000_000, allow_inf_nan=False)]
Limit = Annotated[int, Field(ge=1, le=results.MOST_ROWS, description="Rows at most.")]
Cursor = Annotated[
    str | None, Field(max_length=500, description="`next_cursor` of the page before.")
]
ToolResult = Coroutine[Any, Any, CallToolResult]


class WantedItem(BaseModel):
    """What to buy."""

    model_config = ConfigDict(extra="forbid")

    product_id: ProductId
    quantity: Annotated[int, Field(ge=1, le=1_000_000)]
    sku_id: Annotated[
        str | None,
        Field(max_length=100, description="The variant; required if the product has `skus`."),
    ] = None


Items = Annotated[list[WantedItem], Field(min_length=1, max_length=50)]
Remark = Annotated[str | None, Field(max_length=500, description="For the seller.")]


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool, the scope that its key needs, and whether it changes something."""

    run: Callable[..., ToolResult]
    scope: str
    changes: bool = False


class Tools:
    """The tools. `identify` finds out who calls: the key and the agent's name."""

    def __init__(
        self,
        api: ApiClient,
        identify: Callable[[Context], Coroutine[Any, Any, AgentCaller]],
    ) -> None:
        self._api = api
        self._identify = identify

    def all(self) -> Sequence[AgentTool]:
        reading = (
            *(self.list_marketplaces, self.search_products, self.resolve_link, self.get_product),
            *(self.list_addresses, self.preview_order, self.list_orders, self.get_order),
            *(self.get_order_timeline, self.list_order_payments, self.list_events),
            *(self.list_webhooks, self.explain_delivery),
        )
        return (
            *(AgentTool(run, "read") for run in reading),
            AgentTool(self.place_order, "order", changes=True),
            AgentTool(self.request_payment, "pay_request", changes=True),
        )

    async def list_marketplaces(self, context: Context) -> CallToolResult:
        """List the marketplaces and what each can do. Begin here."""
        page = await self._get(context, "platforms")
        names = ("platform", "name", "capabilities", "connection", "simulated", "single_seller")
        rows = [results.pick(row, *names) for row in page["items"]]
        return _listed("marketplaces", rows, page)

    async def search_products(
        self,
        context: Context,
        platform: Platform,
        query: Annotated[str, Field(min_length=1, max_length=200, description="Keywords.")],
        page: Annotated[int, Field(ge=1, le=100)] = 1,
        size: Limit = 10,
        sort: Literal["relevance", "price_asc", "price_desc", "sales_desc"] = "relevance",
        min_price_cny: Cny | None = None,
        max_price_cny: Cny | None = None,
    ) -> CallToolResult:
        """Search products of a marketplace by keywords. Prices are in CNY."""
        body = {"q": query, "platform": platform, "page": page, "size": size, "sort": sort}
        limits = {"min_price_cny": min_price_cny, "max_price_cny": max_price_cny}
        body |= {name: value for name, value in limits.items() if value is not None}
        found_page = (await self._call(context, "POST", path_of("products", "search"), body)).body
        rows = [results.product(row) for row in found_page["items"][: results.MOST_ROWS]]
        total = found_page["paginate"]["total"]
        return _result(
            f"{total} products, page {page}:\n{results.lines(rows)}",
            {"products": rows, "total": total, "page": page},
        )

    async def resolve_link(
        self,
        context: Context,
        text: Annotated[
            str, Field(min_length=1, max_length=2000, description="A pasted link or product id.")
        ],
    ) -> CallToolResult:
        """Find the product that a link of 1688, Taobao or Tmall, or an id, names."""
        body = {"text": text}
        resolved = (await self._call(context, "POST", path_of("products", "resolve"), body)).body
        names = ("platform", "product_id", "url")
        value = {
            **results.pick(resolved, *names),
            "candidates": [
                results.pick(each, *names)
                for each in (resolved.get("candidates") or [])[: results.MOST_ROWS]
            ],
        }
        return _result(results.lines([value]), value)

    async def get_product(
        self, context: Context, platform: Platform, product_id: ProductId
    ) -> CallToolResult:
        """Show a product with its variants (`skus`), prices and stock."""
        value = results.product_details(await self._get(context, "products", platform, product_id))
        head = {name: each for name, each in value.items() if name != "skus"}
        return _result(results.lines([head, *value["skus"]]), value)

    async def list_addresses(self, context: Context) -> CallToolResult:
        """List the saved addresses that goods can be shipped to, without phone and street."""
        page = await self._get(context, "addresses", limit=100)
        return _listed("addresses", [results.address(row) for row in page["items"]], page)

    async def preview_order(
        self, context: Context, platform: Platform, items: Items, address_id: AddressId
    ) -> CallToolResult:
        """Say what an order would cost now. Nothing is ordered."""
        body = await self._order(context, platform, items, address_id)
        answer = await self._call(context, "POST", path_of("orders", "preview"), body)
        value = results.preview(answer.body)
        return _result(
            f"{results.lines([value])}\nTo order, show this total to the person and pass it as "
            "expected_total_cny of place_order.",
            value,
        )

    async def place_order(
        self,
        context: Context,
        platform: Platform,
        items: Items,
        address_id: AddressId,
        expected_total_cny: Annotated[Cny, Field(description="The total of a preview.")],
        remark: Remark = None,
        external_id: Annotated[
            str | None, Field(min_length=1, max_length=100, description="The person's own id.")
        ] = None,
        idempotency_key: Annotated[
            str | None,
            Field(
                pattern="^[\\x21-\\x7e]{1,255}$",
                description="Without it, it is made from the other arguments: the same call again "
                "within seven days returns the same order. Pass a new one to buy the same again.",
            ),
        ] = None,
    ) -> CallToolResult:
        """Place an order at the previewed total. It is not paid: request_payment asks a person."""
        body = await self._order(context, platform, items, address_id)
        body["expected_total_cny"] = expected_total_cny
        body |= {k: v for k, v in (("remark", remark), ("external_id", external_id)) if v}
        key = idempotency_key or derived_key("place_order", body)
        answer = await self._call(context, "POST", path_of("orders"), body, idempotency_key=key)
        value = {
            **results.order(answer.body),
            "placed_before": answer.replayed,
            "idempotency_key": key,
        }
        head = (
            "This very call placed this order before; no second order was placed."
            if answer.replayed
            else "The order is placed and not paid."
        )
        return _result(f"{head}\n{results.lines([value])}", value)

    async def list_orders(
        self,
        context: Context,
        status: Annotated[str | None, Field(pattern="^[a-z_,]{1,200}$")] = None,
        payment_status: Annotated[str | None, Field(pattern="^[a-z_,]{1,200}$")] = None,
        limit: Limit = 10,
        cursor: Cursor = None,
    ) -> CallToolResult:
        """List orders, newest first, perhaps only those with these statuses (by comma)."""
        page = await self._get(
            context,
            "orders",
            status=status,
            payment_status=payment_status,
            limit=limit,
            cursor=cursor,
        )
        return _listed("orders", [results.order_line(row) for row in page["items"]], page)

    async def get_order(self, context: Context, order: OrderId) -> CallToolResult:
        """Show an order as its marketplace has it now."""
        value = results.order(await self._get(context, "orders", order))
        return _result(results.lines([value]), value)

    async def get_order_timeline(
        self, context: Context, order: OrderId, limit: Limit = 20, cursor: Cursor = None
    ) -> CallToolResult:
        """Show what happened to an order, newest first: what changed, why, and who asked."""
        page = await self._get(context, "orders", order, "timeline", limit=limit, cursor=cursor)
        return _listed("changes", [results.change(row) for row in page["items"]], page)

    async def list_order_payments(self, context: Context, order: OrderId) -> CallToolResult:
        """List the payment requests of an order, newest first, and who decided about them."""
        page = await self._get(context, "orders", order, "payments", limit=results.MOST_ROWS)
        return _listed("payments", [results.payment_request(row) for row in page["items"]], page)

    async def request_payment(
        self,
        context: Context,
        order: OrderId,
        amount_cny: Annotated[Cny, Field(description="The total_amount_cny of the order.")],
        note: Annotated[
            str | None, Field(max_length=500, description="Why, for the person who approves.")
        ] = None,
    ) -> CallToolResult:
        """Ask a person to approve the payment of an order. This pays nothing by itself."""
        body = {"amount_cny": amount_cny, **({"note": note} if note else {})}
        answer = await self._call(context, "POST", path_of("orders", order, "payment"), body)
        value = results.payment_request(answer.body)
        return _result(
            "Requested. Another person has to approve it in Tradewind; no tool can.\n"
            + results.lines([value]),
            value,
        )

    async def list_events(
        self,
        context: Context,
        order: OrderId | None = None,
        limit: Limit = 20,
        after: Annotated[str | None, Field(max_length=500, description="`next_cursor`.")] = None,
    ) -> CallToolResult:
        """List events of the account or of one order, oldest first."""
        page = await self._get(context, "events", order=order, limit=limit, after=after)
        return _listed("events", [results.event(row) for row in page["items"]], page)

    async def list_webhooks(self, context: Context) -> CallToolResult:
        """List the webhooks and their health. Their secrets are never shown."""
        page = await self._get(context, "webhooks", limit=100)
        names = ("id", "url", "events", "is_active", "health", "failing_since", "disabled_reason")
        return _listed("webhooks", [results.pick(row, *names) for row in page["items"]], page)

    async def explain_delivery(
        self, context: Context, webhook: WebhookId, event: EventId
    ) -> CallToolResult:
        """Explain what became of an event at a webhook: delivered, waiting, failed, and why."""
        value = results.explanation(
            await self._get(context, "webhooks", webhook, "explain", event=event)
        )
        return _result(f"{value['explanation']}\n{results.lines(value['attempts'])}", value)

    async def _order(
        self, context: Context, platform: str, items: Sequence[WantedItem], address_id: str
    ) -> Json:
        saved = await self._get(context, "addresses", address_id)
        names = ("name", "phone", "province", "city", "district", "detail", "postal_code")
        return {
            "platform": platform,
            "items": [item.model_dump(exclude_none=True) for item in items],
            "address": {name: saved[name] for name in names if saved.get(name)},
        }

    async def _get(self, context: Context, *steps: str, **query: Any) -> Json:
        caller = await self._identify(context)
        try:
            return (await self._api.call(caller, "GET", path_of(*steps), query=query)).body
        except ApiProblem as problem:
            raise ToolError(str(problem)) from None

    async def _call(
        self,
        context: Context,
        method: str,
        path: str,
        body: Json,
        *,
        idempotency_key: str | None = None,
    ) -> ApiAnswer:
        caller = await self._identify(context)
        try:
            return await self._api.call(
                caller, method, path, body=body, idempotency_key=idempotency_key
            )
        except ApiProblem as problem:
            raise ToolError(str(problem)) from None


def add_tools(server: MCPServer[Any], tools: Sequence[AgentTool]) -> None:
    """Offer these tools, each with what clients may know about it."""
    for tool in tools:
        server.add_tool(
            tool.run,
            annotations=ToolAnnotations(
                read_only_hint=not tool.changes,
                destructive_hint=False,
                idempotent_hint=tool.run.__name__ == "place_order" or not tool.changes,
                open_world_hint=True,
            ),
        )


def _listed(name: str, rows: Sequence[Json], page: Json) -> CallToolResult:
    shown = list(rows)
    cursor = page.get("next_cursor") if page.get("has_more") else None
    more = f"\nMore: next_cursor={cursor}" if cursor else ""
    text = f"{len(shown)} {name}:\n{results.lines(shown)}{more}" if shown else f"No {name}."
    return _result(text, {name: shown, "next_cursor": cursor})


def _result(text: str, value: Json) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=results.bounded(text))], structured_content=value
    )
