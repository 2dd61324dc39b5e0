// Receives webhooks with Fastify: node fastify.js
import Fastify from "fastify";
import { Receiver, fastifyPlugin } from "tradewind-sdk";

const receiver = new Receiver({
  secret: process.env.WEBHOOK_SECRET ?? "", // shown once, when the webhook is created
  onEvent(event) {
    const { id, status, payment_status } = event.data.order;
    console.log(`${event.event} ${id}: ${status}, payment ${payment_status}`);
  },
});

const app = Fastify();
app.register(fastifyPlugin(receiver, "/"));

const port = Number(process.env.PORT ?? 3000);
await app.listen({ port, host: "127.0.0.1" });
console.log(`Listening on http://localhost:${port}`);
