// What an integrator writes in TypeScript with the SDK.
// Each `@ts-expect-error` is a mistake that the types must catch.
import { Client, InvalidRequest, Receiver, verify } from "tradewind-sdk";
import type { Schemas, WebhookEvent } from "tradewind-sdk";

const client = new Client({ baseUrl: "https://tradewind.example.com", apiKey: "twk_…" });

export async function shop(id: string): Promise<string | null> {
  const order: Schemas["Order"] = await client.getOrder(id);
  const page = await client.listOrders({ status: ["paid", "shipped"], limit: 50 });
  const first: Schemas["Order"] | undefined = page.items[0];
  for await (const event of client.listEvents({ order: id })) {
    const kind: "order.updated" | "payment.updated" = event.event;
    // @ts-expect-error: an event has the order's main fields only.
    event.data.order.items;
    void kind;
  }
  for await (const { id: number, data } of client.streamEvents({ order: id }, { lastEventId: "0" })) {
    const last: [string, string] = [number, data.data.order.updated_at];
    void last;
  }
  const nothing: void = await client.deleteWebhook("whk_…");
  const file: Response = await client.exportOrders({ bom: true });
  await client.cancelOrder(id, { idempotencyKey: "cancel-1" });
  await client.testWebhook("whk_…");
  // @ts-expect-error: there is no such status.
  await client.listOrders({ status: ["paidd"] });
  // @ts-expect-error: the address is missing.
  await client.createOrder({ platform: "sandbox", items: [] });
  // @ts-expect-error: there is no such operation.
  await client.payOrder(id);
  // @ts-expect-error: the id is missing.
  await client.getOrder();
  void [first, nothing, file];
  return order.order_id;
}

export const receiver = new Receiver({
  secret: ["whsec_new", "whsec_old"],
  async onEvent(event: WebhookEvent, delivery) {
    const total: number | null = event.data.order.total_amount_cny;
    const sent: number = delivery.timestamp;
    void [total, sent];
  },
});

// @ts-expect-error: what happens with an event is missing.
export const useless = new Receiver({ secret: "whsec_…" });

export function explain(error: unknown): string {
  if (!(error instanceof InvalidRequest)) return "";
  return error.errors.map((each) => `${each.pointer}: ${each.message}`).join("\n");
}

// @ts-expect-error: a body that was parsed is not the body.
verify("whsec_…", new Headers(), { id: "evt_…" });
