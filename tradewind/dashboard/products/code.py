"""Code that orders a product over the API: for a shell, for Python and for Node. Pure."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from tradewind.platforms.model import Address

# Used until the account has an address of its own.
SAMPLE_ADDRESS = Address("张三", "15251667788", "浙江省", "杭州市", "滨江区", "网商路699号")


@dataclass(frozen=True, slots=True)
class OrderCode:
    """The code that previews and places one order, in each language."""

    curl_preview: str
    curl: str
    python: str
    node: str


def order_code(
    public_url: str,
    platform: str,
    product_id: str,
    quantities: Mapping[str | None, int],
    address: Address,
    key: str,
) -> OrderCode:
    """The code that orders these quantities by variant, under the idempotency key `key`."""
    items = [
        {"product_id": product_id, **({"sku_id": sku_id} if sku_id else {}), "quantity": quantity}
        for sku_id, quantity in quantities.items()
    ]
    body = {"platform": platform, "items": items, "address": _plain(address)}
    return OrderCode(
        curl_preview=_curl(f"{public_url}/v1/orders/preview", body, ""),
        curl=_curl(f"{public_url}/v1/orders", body, key),
        python=_python(f"{public_url}/v1/orders", body, key),
        node=_node(f"{public_url}/v1/orders", body, key),
    )


def _plain(address: Address) -> dict[str, str]:
    names = ("name", "phone", "province", "city", "district", "detail", "postal_code")
    values = {name: getattr(address, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _curl(url: str, body: Mapping[str, object], key: str) -> str:
    """A command whose API key comes from a variable. A shell reads every value as text."""
    lines = [
        f"curl {shlex.quote(url)}",
        '-H "x-api-key: $TRADEWIND_API_KEY"',
        *([f'-H "idempotency-key: {key}"'] if key else []),
        '-H "content-type: application/json"',
        f"-d {shlex.quote(json.dumps(body, ensure_ascii=False))}",
    ]
    return " \\\n  ".join(lines)


def _python(url: str, body: Mapping[str, object], key: str) -> str:
    return (
        "import os\n\nimport requests\n\n"
        "response = requests.post(\n"
        f"    {json.dumps(url)},\n"
        '    headers={"x-api-key": os.environ["TRADEWIND_API_KEY"], '
        f'"idempotency-key": {json.dumps(key)}}},\n'
        f"    json={_indented(body, 4)},\n"
        "    timeout=10,\n"
        ")\n"
        "response.raise_for_status()\n"
        'print(response.json()["id"])\n'
    )


def _node(url: str, body: Mapping[str, object], key: str) -> str:
    return (
        f"const response = await fetch({json.dumps(url)}, {{\n"
        '  method: "POST",\n'
        "  headers: {\n"
        '    "x-api-key": process.env.TRADEWIND_API_KEY,\n'
        f'    "idempotency-key": {json.dumps(key)},\n'
        '    "content-type": "application/json",\n'
        "  },\n"
        f"  body: JSON.stringify({_indented(body, 2)}),\n"
        "});\n"
        "if (!response.ok) throw new Error(await response.text());\n"
        "console.log((await response.json()).id);\n"
    )


def _indented(body: Mapping[str, object], spaces: int) -> str:
    """Texts and numbers as JSON, which Python and JavaScript read alike."""
    return json.dumps(body, ensure_ascii=False, indent=2).replace("\n", "\n" + " " * spaces)
