// Follows the stream of events, which needs no public address: node follow.js
import { Client } from "tradewind-sdk";

const client = new Client({
  baseUrl: process.env.TRADEWIND_URL ?? "http://127.0.0.1:8000",
  apiKey: process.env.TRADEWIND_API_KEY ?? "",
});

// "0" is before the first event of your journal. Without it, the stream begins with what is new.
for await (const { id, event, data } of client.streamEvents({}, { lastEventId: "0" })) {
  const { order } = data.data;
  console.log(`${id} ${event} ${order.id}: ${order.status}, payment ${order.payment_status}`);
}
