// Serves the route handler of examples/next-route.js as Next.js calls it: with a Web request.
import { createServer } from "node:http";
import { Readable } from "node:stream";

import { POST } from "./next-route.js";

createServer(async (incoming, outgoing) => {
  if (incoming.method !== "POST") {
    outgoing.writeHead(405).end(); // Next.js answers for methods that a route does not export
    return;
  }
  const request = new Request(`http://localhost${incoming.url}`, {
    method: "POST",
    headers: new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
    body: Readable.toWeb(incoming),
    duplex: "half",
  });
  const response = await POST(request);
  outgoing.writeHead(response.status, { connection: "close" }).end(await response.text());
}).listen(Number(process.env.PORT), "127.0.0.1");
