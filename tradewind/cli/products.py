"""`tradewind search`: searches products of a marketplace, at a server."""

from typing import Annotated

import typer

from tradewind.cli import client
from tradewind.cli.output import Json, for_programs, say, write_json, write_table


def search(
    query: Annotated[list[str], typer.Argument(help="What to search for, in any language.")],
    *,
    platform: Annotated[str, typer.Option(help="The marketplace.")] = "sandbox",
    page: Annotated[int, typer.Option(min=1)] = 1,
    size: Annotated[int, typer.Option(min=1, max=50, help="Products on a page.")] = 20,
    sort: Annotated[
        str, typer.Option(help="relevance, price_asc, price_desc or sales_desc.")
    ] = "relevance",
    as_json: Json = False,
) -> None:
    """Search products of a marketplace."""
    wanted = {
        "q": " ".join(query),
        "platform": platform,
        "page": page,
        "size": size,
        "sort": sort,
    }
    with client.connected() as remote:
        result = remote.post("/v1/products/search", wanted)
    if for_programs(as_json):
        write_json(result)
        return
    rows = [
        {
            "id": offer["id"],
            "title": offer["title_translated"] or offer["title"],
            "price_cny": offer["price_cny"],
            "minimum": offer["min_order_quantity"],
            "sold": offer["sold"],
            "seller": offer["seller"]["name"],
        }
        for offer in result["items"]
    ]
    write_table(rows, "Nothing was found.")
    if rows:
        say(f"Page {page}; {result['paginate']['total']} products in all.")
