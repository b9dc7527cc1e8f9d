import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { functionUrlEvent } from "../../ingress/function-url-event.ts";

/** Lambda's limit for an event, in which the body is one text. */
const MAX_EVENT_BYTES = 6 * 1024 * 1024;

/** Types of a body that is handed over as text; any other comes as base64, forms too. */
const TEXT = /^\s*(text\/[^;]+|application\/(json|javascript|xml))\s*(;|$)/i;

export interface FunctionUrl {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * HTTP in front of a function, as a function URL is.
 * https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html
 */
export async function serveFunctionUrl(invoke: (event: unknown) => Promise<unknown>): Promise<FunctionUrl> {
  const server = createServer(async (request, response) => {
    const answer = (status: number, message: string): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ Message: message }));
    };
    const event = await toEvent(request);
    if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES) {
      return answer(
        413,
        `Request must be smaller than ${MAX_EVENT_BYTES} bytes for the InvokeFunction operation`,
      );
    }
    try {
      const { statusCode, headers, cookies, body, isBase64Encoded } = toResult(await invoke(event));
      response.writeHead(statusCode ?? 200, {
        ...(headers as Record<string, string>),
        ...(cookies?.length ? { "set-cookie": cookies } : {}),
      });
      response.end(Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8"));
    } catch {
      answer(502, "Internal Server Error");
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function toEvent(request: IncomingMessage): Promise<APIGatewayProxyEventV2> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const { cookie, connection, host, "transfer-encoding": _, ...headers } = request.headers;
  const path = request.url ?? "/";
  const query = new URL(path, "http://localhost").searchParams;
  const isBase64Encoded = body.length > 0 && !isText(headers["content-type"], body);
  return {
    ...functionUrlEvent({
      method: request.method ?? "GET",
      path,
      // Node lowers their names, as AWS does, and joins most that come twice.
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      body: body.length > 0 ? body.toString(isBase64Encoded ? "base64" : "utf8") : undefined,
      isBase64Encoded,
    }),
    ...(cookie ? { cookies: cookie.split(/;\s*/) } : {}),
    ...(query.size > 0
      ? {
          queryStringParameters: Object.fromEntries(
            [...query.keys()].map((name) => [name, query.getAll(name).join(",")]),
          ),
        }
      : {}),
  };
}

function isText(contentType: string | undefined, body: Buffer): boolean {
  return TEXT.test(contentType ?? "") && Buffer.from(body.toString("utf8")).equals(body);
}

/** What is no such structure is the body itself. */
function toResult(result: unknown): APIGatewayProxyStructuredResultV2 {
  return typeof result === "object" && result !== null && "statusCode" in result
    ? (result as APIGatewayProxyStructuredResultV2)
    : { headers: { "content-type": "application/json" }, body: JSON.stringify(result) };
}
