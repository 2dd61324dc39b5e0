"""The statements of the page of an import: the titles of the goods that its rows name."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from tradewind.storage.pool import Database


async def goods_titles(
    db: Database, account_id: UUID, import_id: UUID, row_numbers: Sequence[int]
) -> Mapping[int, str]:
    """The title of the goods of each of these rows, where it is known.

    It is known from the order that the row became, from the account's cart, or because somebody
    looked at the product lately.
    """
    rows = await db.fetch(
        """
        SELECT r.number, coalesce(ordered.title, in_cart.title, cached.title) AS title
          FROM import_row AS r
          JOIN import_order AS o ON o.import_id = r.import_id AND o.number = r.order_number
          LEFT JOIN import_placement AS p ON p.import_id = o.import_id AND p.number = o.number
          LEFT JOIN purchase_order AS placed
                 ON placed.id = p.purchase_order_id AND placed.account_id = r.account_id
          LEFT JOIN LATERAL (
               SELECT coalesce(item -> 'goods' ->> 'title_translated',
                               item -> 'goods' ->> 'title') AS title
                 FROM json_array_elements(placed.items) AS item
                WHERE item ->> 'product_id' = r.cells ->> 'product_id'
                LIMIT 1) AS ordered ON true
          LEFT JOIN LATERAL (
               SELECT coalesce(c.goods ->> 'title_translated', c.goods ->> 'title') AS title
                 FROM cart_line AS c
                WHERE c.account_id = r.account_id
                  AND c.platform = o.wanted ->> 'platform'
                  AND c.product_id = r.cells ->> 'product_id'
                LIMIT 1) AS in_cart ON true
          LEFT JOIN LATERAL (
               SELECT coalesce(offer ->> 'title_translated', offer ->> 'title') AS title
                 FROM product_cache AS cache
                CROSS JOIN LATERAL (SELECT convert_from(cache.body, 'UTF8')::json -> 'offer')
                           AS product (offer)
                WHERE cache.platform = o.wanted ->> 'platform'
                  AND cache.product_id = r.cells ->> 'product_id') AS cached ON true
         WHERE r.import_id = $1
           AND r.account_id = $2
           AND r.number = ANY ($3::integer[])
        """,
        import_id,
        account_id,
        row_numbers,
    )
    return {row["number"]: row["title"] for row in rows if row["title"]}
