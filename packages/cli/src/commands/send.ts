import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import {
  type ResolvedSource,
  resolveConfig,
  type SignedRequest,
  signRequest,
} from "webhook-anvil/signatures";
import type { Context, Environment } from "../context.ts";
import { Failure, UsageError } from "../failure.ts";
import { cut, oneLine } from "../output/plain-text.ts";
import { onlyTheirs } from "../sending/only-theirs.ts";
import { type Answer, post } from "../sending/post.ts";
import { fileEvent, type SampleEvent, sampleEvent } from "../sending/sample-event.ts";
import { sourcePath } from "../sending/source-path.ts";
import { type LoadedConfig, loadConfig } from "../settings/config-file.ts";
import { countSetting, port } from "../settings/numbers.ts";

export type SendOptions = {
  readonly url?: string;
  readonly file?: string;
  readonly type?: string;
  readonly times?: string;
};

/** Signs one event and delivers it, once or several times; each delivery is signed anew, as a provider does. */
export async function send(context: Context, sourceName: string, options: SendOptions): Promise<number> {
  const { env, stdout } = context;
  const times = countSetting(options.times, env, { option: "--times", least: 1, fallback: 1 });
  const source = pickSource(await loadConfig(context), sourceName, env);
  const theirs = onlyTheirs(source.provider);
  if (theirs !== undefined) throw new Failure(theirs);
  const url = target(options.url, source.name, env);
  const event = await makeEvent(source, options, context);
  const secret = source.secrets[0] as string;

  stdout.line(
    `POST ${url} (${[source.provider.name, event.type, `${event.body.byteLength} bytes`].filter(Boolean).join(", ")})`,
  );
  let refused = 0;
  for (let sent = 0; sent < times; sent++) {
    const delivery = signed(source, event, secret, url);
    const answer = await post(delivery.to, delivery.headers, delivery.body);
    const stored = answer.status >= 200 && answer.status < 300;
    if (!stored) refused += 1;
    const status = stored ? stdout.style.green(answer.status) : stdout.style.red(answer.status);
    stdout.line(`${status} ${cut(oneLine(answer.body), 500)}${stored ? "" : advice(answer)}`);
  }
  return refused === 0 ? 0 : 1;
}

function pickSource({ config, file }: LoadedConfig, name: string, env: Environment): ResolvedSource {
  const sources = (config.sources ?? {}) as Record<string, unknown>;
  if (!Object.hasOwn(sources, name)) {
    const known = Object.keys(sources).join(", ") || "none";
    throw new UsageError(
      `there is no source "${name}"; ${file ?? "no anvil.config.ts is in this folder, which leaves"} ${file ? "has " : ""}${known}`,
    );
  }
  // Of this source alone: the secrets of the others need not be here.
  const resolved = resolveConfig({ ...config, sources: { [name]: sources[name] } }, env);
  return resolved.sources.get(name) as ResolvedSource;
}

/** A URL without a path means the server: the source's own path is added. */
function target(given: string | undefined, source: string, env: Environment): string {
  if (given === undefined) return `http://127.0.0.1:${port(env)}${sourcePath(source)}`;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`--url is "${given}"; write it as in http://127.0.0.1:3000/webhooks`);
  }
  if (url.pathname === "/") url.pathname = sourcePath(source);
  return url.href;
}

async function makeEvent(
  { provider }: ResolvedSource,
  { file, type }: SendOptions,
  { cwd }: Context,
): Promise<SampleEvent> {
  if (file === undefined) {
    if (type !== undefined && !provider.type) {
      throw new UsageError(`--type: events of ${provider.name} have no type; leave it out`);
    }
    return sampleEvent(provider, type, Date.now());
  }
  const bytes = file === "-" ? await buffer(process.stdin) : await read(file, cwd);
  const event = fileEvent(provider, bytes, type);
  if (!event) {
    throw new UsageError(
      `--type: ${provider.name} has it in the body, which is ${file}; leave one of them out`,
    );
  }
  return event;
}

async function read(file: string, cwd: string): Promise<Buffer> {
  try {
    return await readFile(resolve(cwd, file));
  } catch (error) {
    throw new Failure(`--file ${file} can't be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Signed over the public URL, where the provider signs one, and posted to the ingress itself. */
function signed(
  { provider, publicUrl }: ResolvedSource,
  { headers, body }: SampleEvent,
  secret: string,
  to: string,
): SignedRequest & { readonly to: string } {
  // As the ingress puts it together: what is configured, and the query of the request.
  const url = publicUrl === "" || publicUrl.includes("?") ? publicUrl : publicUrl + new URL(to).search;
  let request: SignedRequest;
  try {
    request = signRequest(provider, { url, headers, body }, secret, { nowMs: Date.now() });
  } catch (error) {
    if (error instanceof TypeError) throw new Failure(`the event can't be signed: ${error.message}`);
    throw error;
  }
  // Twilio writes the hash of a body that is no form into the query.
  const added = request.url.slice(url.length);
  return { ...request, to: added === "" ? to : to + (to.includes("?") ? "&" : "?") + added.slice(1) };
}

function advice({ status }: Answer): string {
  if (status === 401) {
    return "\n    The server has another secret, or another url, for this source than this environment.";
  }
  if (status === 503) return "\n    The server could not store it; anvil doctor finds out why.";
  return "";
}
