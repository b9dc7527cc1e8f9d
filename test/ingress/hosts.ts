import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import type { Context } from "aws-lambda";
import { createServer, type Server, type ServerOptions } from "webhook-anvil/ingress";
import { listen } from "webhook-anvil/node";
import { functionUrlHandler } from "../../functions/function-url.ts";
import { functionUrlEvent } from "./function-url-event.ts";

export type Delivery = {
  readonly method?: string;
  /** With its query. */
  readonly path?: string;
  /** A list is sent as that many headers of the name. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array;
};

export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

/** A way to reach the ingress: in process, over HTTP, as a function URL event. */
export type Host = { send(delivery: Delivery): Promise<Answer>; close(): Promise<void> };

export type StartHost = (options: ServerOptions) => Promise<Host>;

/** The Node server that `anvil ingress` and the containers use. */
export const nodeHost: StartHost = async (options) => {
  const app = createServer(options);
  const server = await listen(app, { host: "127.0.0.1", port: 0 });
  return {
    send: (delivery) => overHttp(server.port, delivery),
    close: () => server.close(1_000).then(() => app.close()),
  };
};

/** Hono's own server, as the README has it in a process of one's own. */
export const honoServerHost: StartHost = async (options) => {
  const app = createServer(options);
  const server = await new Promise<ReturnType<typeof serve>>((resolve) => {
    const started = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () => resolve(started));
  });
  const { port } = server.address() as AddressInfo;
  return {
    send: (delivery) => overHttp(port, delivery),
    async close() {
      await new Promise((resolve) => server.close(resolve));
      await app.close();
    },
  };
};

export const inProcessHost: StartHost = async (options) => {
  const app = createServer(options);
  return {
    async send({ method = "POST", path = "/", headers = {}, body }) {
      const answer = await app.request(path.startsWith("//") ? `http://localhost${path}` : path, {
        method,
        headers: Object.entries(joined(headers)),
        ...(body === undefined ? {} : { body }),
      });
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    },
    close: () => app.close(),
  };
};

/** Which bodies come as base64 is up to AWS; both forms must mean the same. */
export function functionUrlHost(asBase64: (body: Uint8Array) => boolean): StartHost {
  return async (options) => toFunctionUrl(createServer(options), asBase64);
}

function toFunctionUrl(app: Server, asBase64: (body: Uint8Array) => boolean): Host {
  const handler = functionUrlHandler(app);
  return {
    async send({ method = "POST", path = "/", headers = {}, body }) {
      const isBase64Encoded = body !== undefined && asBase64(body);
      const text = body && Buffer.from(body).toString(isBase64Encoded ? "base64" : "utf8");
      const result = await handler(
        functionUrlEvent({ method, path, headers: joined(headers), body: text, isBase64Encoded }),
        { awsRequestId: "made-up" } as Context,
      );
      return {
        status: result.statusCode ?? 0,
        headers: new Headers(result.headers as Record<string, string>),
        text: result.body ?? "",
      };
    },
    close: () => app.close(),
  };
}

export const isText = (body: Uint8Array): boolean =>
  Buffer.from(Buffer.from(body).toString("utf8")).equals(body);

/** Every way in which deliveries reach a deployed ingress. */
export const deployedHosts: readonly (readonly [string, StartHost])[] = [
  ["on our Node server", nodeHost],
  ["as function URL events, in base64", functionUrlHost(() => true)],
  ["as function URL events, text as text", functionUrlHost((body) => !isText(body))],
];

/** node:http and not fetch, which would lower the names of the headers before they are sent. */
function overHttp(
  port: number,
  { method = "POST", path = "/", headers = {}, body }: Delivery,
): Promise<Answer> {
  return new Promise<Answer>((resolve, reject) => {
    const outgoing = request(
      { host: "127.0.0.1", port, method, path, headers: { ...headers } as Record<string, string> },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
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
  });
}

/** AWS and Fetch join what is repeated. */
function joined(headers: NonNullable<Delivery["headers"]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === "string" ? value : value.join(","),
    ]),
  );
}
