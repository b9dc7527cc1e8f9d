import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { FunctionError } from "./runtime-api.ts";
import type { Lambda } from "./start-lambda.ts";

export interface InvokeApi {
  /** For AWS_ENDPOINT_URL. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Lambda's Invoke, as the AWS SDK and command line call it.
 * https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
 *
 * @param functions by name
 */
export async function startInvokeApi(functions: Readonly<Record<string, Lambda>>): Promise<InvokeApi> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [, name = ""] = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(request.url ?? "") ?? [];
    const invoked = functions[decodeURIComponent(name)];
    const answer = (status: number, headers: Record<string, string>, body: unknown): void => {
      response
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(JSON.stringify(body));
    };
    if (request.method !== "POST" || !invoked) {
      return answer(
        404,
        { "x-amzn-errortype": "ResourceNotFoundException" },
        { Message: "Function not found" },
      );
    }
    try {
      answer(200, {}, await invoked.invoke(JSON.parse(Buffer.concat(chunks).toString() || "null")));
    } catch (error) {
      if (!(error instanceof FunctionError)) return answer(500, {}, { Message: String(error) });
      // It ran, so the call has succeeded; the header says that it failed.
      answer(200, { "x-amz-function-error": "Unhandled" }, error.payload);
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
