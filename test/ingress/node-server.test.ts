import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { createServer } from "webhook-anvil/ingress";
import { type Answer, ingressContract } from "./ingress.contract.ts";

ingressContract("on @hono/node-server", async (options) => {
  const app = createServer(options);
  const server = await new Promise<ReturnType<typeof serve>>((resolve) => {
    const started = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () => resolve(started));
  });
  const { port } = server.address() as AddressInfo;
  return {
    // node:http and not fetch, which would lower the names of the headers before they are sent.
    send: ({ method = "POST", path = "/", headers = {}, body }) =>
      new Promise<Answer>((resolve, reject) => {
        const outgoing = request(
          { host: "127.0.0.1", port, method, path, headers: { ...headers } },
          (incoming) => {
            const chunks: Buffer[] = [];
            incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
            incoming.on("end", () =>
              resolve({
                status: incoming.statusCode ?? 0,
                headers: new Headers(incoming.headers as Record<string, string>),
                text: Buffer.concat(chunks).toString(),
              }),
            );
          },
        );
        outgoing.on("error", reject);
        outgoing.end(body);
      }),
    async close() {
      await new Promise((resolve) => server.close(resolve));
      await app.close();
    },
  };
});
