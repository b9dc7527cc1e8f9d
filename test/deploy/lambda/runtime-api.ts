import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a function failed with, as Lambda hands it to who invoked it. */
export class FunctionError extends Error {
  override readonly name = "FunctionError";
  readonly payload: { readonly errorType: string; readonly errorMessage: string };

  constructor(payload: { errorType: string; errorMessage: string }) {
    super(`${payload.errorType}: ${payload.errorMessage}`);
    this.payload = payload;
  }
}

export interface RuntimeApi {
  /** Host and port. */
  readonly address: string;
  /** Once the function is loaded. @throws {FunctionError} what loading it failed with */
  readonly initialized: Promise<void>;
  /** One at a time, as a sandbox is given them. @throws {FunctionError} */
  invoke(event: unknown): Promise<unknown>;
  /** Fails what is under way, and what comes. */
  close(reason: Error): void;
}

export interface RuntimeApiOptions {
  readonly functionArn: string;
  readonly timeoutMs: number;
  /** Called the moment that the function has answered, before who invoked it hears of it. */
  readonly answered: () => void;
  readonly timedOut: () => void;
}

interface Invocation {
  readonly id: string;
  readonly event: string;
  settle(outcome: { readonly answer: unknown } | { readonly error: Error }): void;
}

/**
 * The side of Lambda that a runtime client speaks to.
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export async function startRuntimeApi(options: RuntimeApiOptions): Promise<RuntimeApi> {
  let closed: Error | undefined;
  let poll: ServerResponse | undefined;
  let current: Invocation | undefined;
  const queued: Invocation[] = [];
  const init = { resolve() {}, reject(_error: Error) {} };
  const initialized = new Promise<void>((resolve, reject) => Object.assign(init, { resolve, reject }));
  // It may fail when nobody waits for it any more.
  initialized.catch(() => {});

  const giveNext = (): void => {
    if (!poll || current) return;
    current = queued.shift();
    if (!current) return;
    poll.writeHead(200, {
      "content-type": "application/json",
      "lambda-runtime-aws-request-id": current.id,
      "lambda-runtime-deadline-ms": String(Date.now() + options.timeoutMs),
      "lambda-runtime-invoked-function-arn": options.functionArn,
      "lambda-runtime-trace-id": "Root=1-00000000-000000000000000000000000;Sampled=0",
    });
    poll.end(current.event);
    poll = undefined;
  };

  const server = createServer(async (request, response) => {
    const path = request.url?.replace("/2018-06-01/runtime", "");
    if (path === "/invocation/next") {
      poll = response;
      init.resolve();
      return giveNext();
    }
    const body = JSON.parse((await textOf(request)) || "null");
    const [, id, outcome] = /^\/invocation\/([^/]+)\/(response|error)$/.exec(path ?? "") ?? [];
    if (current && id === current.id) {
      options.answered();
      current.settle(outcome === "response" ? { answer: body } : { error: new FunctionError(body) });
    }
    response.writeHead(202, { "content-type": "application/json" }).end('{"status":"OK"}');
    if (path === "/init/error") init.reject(new FunctionError(body));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));

  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    initialized,
    invoke(event) {
      return new Promise((resolve, reject) => {
        if (closed) return reject(closed);
        const timer = setTimeout(() => {
          options.timedOut();
          invocation.settle({
            error: new Error(`Task timed out after ${options.timeoutMs / 1_000} seconds`),
          });
        }, options.timeoutMs);
        const invocation: Invocation = {
          id: randomUUID(),
          event: JSON.stringify(event),
          settle(outcome) {
            clearTimeout(timer);
            if (current === invocation) current = undefined;
            if ("answer" in outcome) resolve(outcome.answer);
            else reject(outcome.error);
          },
        };
        queued.push(invocation);
        giveNext();
      });
    },
    close(reason) {
      closed = reason;
      init.reject(reason);
      for (const invocation of [...(current ? [current] : []), ...queued])
        invocation.settle({ error: reason });
      server.closeAllConnections();
      server.close();
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
