import { createServer } from "webhook-anvil/ingress";
import { type Listening, listen } from "webhook-anvil/node";
import { resolveConfig, type ServedSource, servedSources } from "webhook-anvil/signatures";
import type { Context } from "../context.ts";
import { createLogger } from "../logger.ts";
import { tableLines } from "../output/table.ts";
import { sourcePath } from "../sending/source-path.ts";
import { eventStoreSettings } from "../serving/event-store-settings.ts";
import { listenFailure } from "../serving/listen-failure.ts";
import { loadConfig } from "../settings/config-file.ts";
import { durationSetting, port } from "../settings/numbers.ts";
import { type PlaceOptions, placeIn } from "../settings/queue-place.ts";
import { untilAskedToStop } from "../shutdown.ts";

export type IngressOptions = PlaceOptions & { readonly drain?: string };

/** Serves the ingress until it is asked to stop. Redis need not be there yet: until it is, the answer is 503. */
export async function ingress(context: Context, options: IngressOptions): Promise<number> {
  const { env, stdout, stderr } = context;
  const drainMs = durationSetting(options.drain, env, {
    option: "--drain",
    variable: "ANVIL_DRAIN",
    fallbackMs: 10_000,
  });
  const address = { host: env.HOST || "0.0.0.0", port: port(env) };
  const store = eventStoreSettings(env);
  const { config, file } = await loadConfig(context);
  const { queue, prefix } = placeIn(config, options, context);
  const resolved = resolveConfig({ ...config, queue, prefix }, env);
  const log = await createLogger(stdout);
  const app = createServer({ ...config, queue, prefix, ...store.options, env, log });
  await app.checkDurability().catch(async (error) => {
    await app.close();
    throw error;
  });
  const server = await listen(app, address).catch((error) => {
    throw listenFailure(error, address);
  });

  // Before it is announced: whoever waits for that line may ask it to stop right after.
  const stopping = untilAskedToStop((message) => stderr.line(`anvil: ${message}`));
  const sources = servedSources(resolved).map((served) => ({
    ...served,
    url: server.url + sourcePath(served.source),
  }));
  const { cipher } = resolved;
  const about = {
    ...(cipher ? { encryption: cipher.keyId === undefined ? "off" : `key ${cipher.keyId}` } : {}),
    configuration: file ?? "none: the default source alone",
    redis: store.where,
  };
  if (stdout.interactive) announce(context, server, sources, about);
  else log.info({ sources, queue, prefix, ...about }, `listening on http://${server.boundTo}`);
  // Asks Redis once, so that the log says now that it is away, and not at the first delivery.
  void app.request("/readyz");

  const signal = await stopping;
  log.info({ signal }, "stopping: finishing the requests under way");
  await server.close(drainMs);
  await app.close();
  log.info({}, "stopped");
  return 0;
}

function announce(
  { stdout }: Context,
  server: Listening,
  sources: readonly (ServedSource & { readonly url: string })[],
  about: { readonly configuration: string; readonly redis: string; readonly encryption?: string },
): void {
  stdout.line(`Listening on http://${server.boundTo} (Ctrl-C stops)`);
  const rows = sources.map(({ source, url, provider, secrets }) => [
    `  ${source}`,
    `POST ${url}`,
    provider,
    `secret ${secrets.join(", ")}`,
  ]);
  for (const line of tableLines([{}, {}, {}, {}], rows)) stdout.line(line);
  const { configuration, redis, encryption } = about;
  stdout.line(`  Redis at ${redis}; configuration: ${configuration}`);
  if (encryption !== undefined) stdout.line(`  Encryption of new events: ${encryption}`);
}
