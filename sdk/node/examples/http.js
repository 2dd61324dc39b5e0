// Receives webhooks with Node's own HTTP server: node http.js
import { createServer } from "node:http";

import { Receiver, nodeHandler } from "tradewind-sdk";

const receiver = new Receiver({
  secret: process.env.WEBHOOK_SECRET ?? "", // shown once, when the webhook is created
  onEvent(event) {
    const { id, status, payment_status } = event.data.order;
    console.log(`${event.event} ${id}: ${status}, payment ${payment_status}`);
  },
});

const port = Number(process.env.PORT ?? 3000);
createServer(nodeHandler(receiver)).listen(port, "127.0.0.1", () => {
  console.log(`Listening on http://localhost:${port}`);
});
