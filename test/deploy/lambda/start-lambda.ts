import { spawn } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { watchProcess } from "../../../packages/testkit/src/watched-process.ts";
import { productionNode } from "../production-node.ts";
import { serveFunctionUrl } from "./function-url.ts";
import { startRuntimeApi } from "./runtime-api.ts";
import { runtimeClient } from "./runtime-client.ts";

export interface LambdaOptions {
  /** The files of the zip. */
  readonly folder: string;
  /** As in `bundle.handler`. */
  readonly handler: string;
  /** Nothing of this process's own gets in. */
  readonly environment?: Readonly<Record<string, string>>;
  /** As Lambda does between two events, from the moment of the answer. Default: true. */
  readonly freezesBetweenEvents?: boolean;
  readonly timeoutMs?: number;
  readonly name?: string;
  /** A module to be loaded before all others. */
  readonly preload?: string;
}

/** One sandbox: the function's process, given one event after the other. */
export interface Lambda {
  /** Its function URL. */
  readonly url: string;
  /** From the start of Node to the moment that it asked for the first event. */
  readonly initMs: number;
  readonly pid: number;
  /** @throws {FunctionError} */
  invoke(event: unknown): Promise<unknown>;
  freeze(): void;
  thaw(): void;
  /** All that it has printed. */
  log(): string;
  stop(): Promise<void>;
}

const nativeClient = fileURLToPath(new URL("native-client.js", import.meta.url));

/**
 * Runs a function in AWS's own runtime client, on Node 24, with what Lambda puts into the environment.
 * @throws {FunctionError} what loading it failed with
 */
export async function startLambda(options: LambdaOptions): Promise<Lambda> {
  const { folder, handler, environment = {}, freezesBetweenEvents = true, timeoutMs = 10_000 } = options;
  const node = await productionNode();
  if ("skipped" in node) throw new Error(node.skipped);
  const name = options.name ?? "made-up";
  let frozen = false;

  const api = await startRuntimeApi({
    functionArn: `arn:aws:lambda:us-east-1:123456789012:function:${name}`,
    timeoutMs,
    answered: () => freezesBetweenEvents && freeze(),
    timedOut: () => child.kill("SIGKILL"),
  });
  const preloads = [nativeClient, ...(options.preload ? [options.preload] : [])];
  const started = performance.now();
  const child = spawn(
    node.binary,
    [...preloads.flatMap((path) => ["--import", pathToFileURL(path).href]), runtimeClient, handler],
    {
      cwd: folder,
      env: { ...lambdaEnvironment(name, folder, handler, api.address), ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const runtime = watchProcess(child, `the function ${name}`);
  void runtime.exited.then(({ code, signal }) =>
    api.close(new Error(`Runtime exited (${signal ?? `exit code ${code}`}):\n${runtime.stderr()}`)),
  );
  function freeze(): void {
    frozen = true;
    runtime.signal("SIGSTOP");
  }
  function thaw(): void {
    if (frozen) runtime.signal("SIGCONT");
    frozen = false;
  }

  try {
    await api.initialized;
  } catch (error) {
    await runtime.kill("SIGKILL");
    throw error;
  }
  const initMs = performance.now() - started;
  const invoke = async (event: unknown): Promise<unknown> => {
    if (freezesBetweenEvents) thaw();
    return await api.invoke(event);
  };
  const front = await serveFunctionUrl(invoke);
  return {
    ...{ url: front.url, initMs, pid: runtime.pid, invoke, freeze, thaw },
    log: () => runtime.stdout() + runtime.stderr(),
    async stop() {
      await front.stop();
      // As Lambda ends a sandbox: without a word. It works on a frozen process too.
      await runtime.kill("SIGKILL");
    },
  };
}

/** https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime */
function lambdaEnvironment(
  name: string,
  folder: string,
  handler: string,
  api: string,
): Record<string, string> {
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    LANG: "en_US.UTF-8",
    TZ: ":UTC",
    LAMBDA_TASK_ROOT: folder,
    LAMBDA_RUNTIME_DIR: "/var/runtime",
    _HANDLER: handler,
    AWS_LAMBDA_RUNTIME_API: api,
    AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
    AWS_REGION: "us-east-1",
    AWS_DEFAULT_REGION: "us-east-1",
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: "1024",
    AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: "made-up",
    // sst.config.ts asks for it.
    AWS_LAMBDA_LOG_FORMAT: "JSON",
  };
}
