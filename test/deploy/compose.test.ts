import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseDuration } from "webhook-anvil";
import { parse } from "yaml";
import { workerSettings } from "../../workers/settings.ts";
import { root } from "./sst-platform.ts";

interface Service {
  readonly image?: string;
  readonly build?: { context: string; dockerfile: string; target: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly read_only?: boolean;
  readonly depends_on?: readonly string[];
  readonly stop_grace_period?: string;
  readonly restart?: string;
  readonly volumes?: readonly string[];
}

const { services, volumes } = parse(readFileSync(join(root, "compose.yaml"), "utf8"), { strict: true }) as {
  services: Readonly<Record<string, Service>>;
  volumes: object;
};

it("has Redis, ingress and worker, the last two from the Dockerfile and on a read-only file system", () => {
  expect(Object.keys(services)).toEqual(["redis", "ingress", "worker"]);
  const targets = readFileSync(join(root, "workers/Dockerfile"), "utf8");
  for (const name of ["ingress", "worker"]) {
    expect(services[name]).toMatchObject({
      build: { context: ".", dockerfile: "workers/Dockerfile", target: name },
      environment: { REDIS_URL: "redis://redis:6379" },
      read_only: true,
      depends_on: ["redis"],
      restart: "unless-stopped",
    });
    expect(targets).toMatch(new RegExp(`^FROM \\S+ AS ${name}$`, "m"));
  }
});

it("has a Redis that forgets nothing: no eviction, a log of appends, on a volume", () => {
  expect(services.redis?.command?.join(" ")).toMatch(/--appendonly yes --maxmemory-policy noeviction/);
  expect(services.redis?.volumes).toEqual(["redis:/data"]);
  expect(volumes).toHaveProperty("redis");
  expect(services.redis).not.toHaveProperty("ports");
});

it("gives a worker more time to stop than it takes to drain", () => {
  const { worker } = workerSettings(services.worker?.environment ?? {});
  const graceMs = parseDuration(services.worker?.stop_grace_period ?? "") ?? 0;
  expect(graceMs).toBeGreaterThanOrEqual((worker.drainMs ?? 0) + 5_000);
});

it("gives the ingress more time to stop than its requests may take", () => {
  const closeMs = /^const CLOSE_MS = ([\d_]+);$/m.exec(
    readFileSync(join(root, "functions/server.ts"), "utf8"),
  );
  const graceMs = parseDuration(services.ingress?.stop_grace_period ?? "") ?? 0;
  expect(graceMs).toBeGreaterThanOrEqual(Number(closeMs?.[1]?.replaceAll("_", "")) + 5_000);
});

it("takes the secret from who starts it, and deliveries from this machine only", () => {
  expect(services.ingress?.environment?.WEBHOOK_SECRET).toMatch(/^\$\{WEBHOOK_SECRET:\?.+\}$/);
  expect(services.ingress?.ports).toEqual(["127.0.0.1:3000:3000"]);
});
