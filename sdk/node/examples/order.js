// Searches, previews, orders and requests payment, then reads the events: node order.js
import { Client } from "tradewind-sdk";

const client = new Client({
  baseUrl: process.env.TRADEWIND_URL ?? "http://localhost:8000",
  apiKey: process.env.TRADEWIND_API_KEY ?? "",
});

const { items: offers } = await client.searchProducts({ q: "dress", platform: "sandbox" });
const [offer] = offers;
if (offer === undefined) throw new Error("Nothing was found.");
const product = await client.getProduct("sandbox", offer.id);

const purchase = {
  platform: "sandbox",
  items: [{ product_id: product.id, sku_id: product.skus[0]?.id ?? null, quantity: 2 }],
  address: {
    name: "张三",
    phone: "15251667788",
    province: "浙江省",
    city: "杭州市",
    district: "滨江区",
    detail: "网商路699号",
  },
};
const preview = await client.previewOrder(purchase);
console.log(`${product.title}: ${preview.total_amount_cny.toFixed(2)} CNY`);

let order = await client.createOrder(purchase);
while (order.status === "creating") {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  order = await client.getOrder(order.id);
}
const payment = await client.requestOrderPayment(order.id);
console.log(`${order.id}: ${payment.amount_cny.toFixed(2)} CNY to be approved`);

for await (const event of client.listEvents({ order: order.id })) {
  console.log(`${event.event} ${event.data.order.payment_status}`);
}
