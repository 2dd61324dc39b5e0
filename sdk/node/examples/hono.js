// Receives webhooks with Hono: node hono.js
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { Receiver, webHandler } from "tradewind-sdk";

const receiver = new Receiver({
  secret: process.env.WEBHOOK_SECRET ?? "", // shown once, when the webhook is created
  onEvent(event) {
    const { id, status, payment_status } = event.data.order;
    console.log(`${event.event} ${id}: ${status}, payment ${payment_status}`);
  },
});

const app = new Hono();
const receive = webHandler(receiver);
app.post("/", (context) => receive(context.req.raw));

const port = Number(process.env.PORT ?? 3000);
serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }, () => {
  console.log(`Listening on http://localhost:${port}`);
});
