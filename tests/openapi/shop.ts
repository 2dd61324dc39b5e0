// What an integrator writes with the generated types: orders, filters, problems and webhooks.
// Each `@ts-expect-error` is a mistake that the types must catch.
import type { components, operations, paths, webhooks } from "./tradewind";

type Order = components["schemas"]["Order"];
type Delivery =
  webhooks["order.updated"]["post"]["requestBody"]["content"]["application/json"];
type Found = operations["get_order"]["responses"][200]["content"]["application/json"];
type Problem =
  operations["get_order"]["responses"][404]["content"]["application/problem+json"];
type Filters = NonNullable<paths["/v1/orders"]["get"]["parameters"]["query"]>;

const body: operations["create_order"]["requestBody"]["content"]["application/json"] = {
  platform: "sandbox",
  items: [{ product_id: "900000000001", quantity: 2 }],
  address: {
    name: "张三",
    phone: "15251667788",
    province: "浙江省",
    city: "杭州市",
    district: "滨江区",
    detail: "网商路699号",
  },
};
const search: components["schemas"]["SearchInput"] = { q: "dress", platform: "sandbox" };
const headers: operations["create_order"]["parameters"]["header"] = {
  "Idempotency-Key": "PO-1001",
};
const filters: Filters = { status: ["paid", "shipped"], limit: 50 };
const path: operations["get_order"]["parameters"]["path"] = { id: "ORD…" };

// @ts-expect-error: our own id is called `id`; `order_id` is the marketplace's.
const wrongPath: operations["get_order"]["parameters"]["path"] = { order_id: "ORD…" };
// @ts-expect-error: there is no such status.
const wrongFilters: Filters = { status: ["paidd"] };
// @ts-expect-error: the address is missing.
const wrongBody: components["schemas"]["OrderInput"] = { platform: "sandbox", items: [] };

export function next(order: Order): string {
  switch (order.status) {
    case "creating":
      return "wait";
    case "pending_payment":
      return order.payment?.status === "rejected" ? "cancel" : "pay";
    default: // also the values that are added later
      return order.shipments[0]?.tracking_number ?? order.waiting_for;
  }
}

export function isNewer(delivery: Delivery, known: Order): boolean {
  const kind: "order.updated" | "payment.updated" = delivery.event;
  const total: number | null = delivery.data.order.total_amount_cny;
  // @ts-expect-error: an event has the order's main fields only.
  delivery.data.order.items;
  return kind.length > 0 && total !== 0 && delivery.data.order.updated_at > known.updated_at;
}

export function explain(found: Found | Problem): string {
  if ("code" in found) {
    return (found.errors ?? []).map((each) => `${each.pointer}: ${each.message}`).join("\n");
  }
  return next(found);
}

export const used = [body, search, headers, filters, path, wrongPath, wrongFilters, wrongBody];
