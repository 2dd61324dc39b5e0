// Receives webhooks with Express: node express.js
import express from "express";
import { Receiver, nodeHandler } from "tradewind-sdk";

const receiver = new Receiver({
  secret: process.env.WEBHOOK_SECRET ?? "", // shown once, when the webhook is created
  onEvent(event) {
    const { id, status, payment_status } = event.data.order;
    console.log(`${event.event} ${id}: ${status}, payment ${payment_status}`);
  },
});

const app = express();
app.post("/", nodeHandler(receiver)); // before express.json(): the signature covers the raw bytes
app.use(express.json());

const port = Number(process.env.PORT ?? 3000);
app.listen(port, "127.0.0.1", () => console.log(`Listening on http://localhost:${port}`));
