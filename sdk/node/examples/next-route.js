// Receives webhooks with Next.js: save it as app/hook/route.js
import { Receiver, webHandler } from "tradewind-sdk";

export const runtime = "nodejs"; // the SDK uses node:crypto

const receiver = new Receiver({
  secret: process.env.WEBHOOK_SECRET ?? "", // shown once, when the webhook is created
  onEvent(event) {
    const { id, status, payment_status } = event.data.order;
    console.log(`${event.event} ${id}: ${status}, payment ${payment_status}`);
  },
});

export const POST = webHandler(receiver);
