import { startRedisServer } from "anvil-bootstrap/redis-server";
import type { TestProject } from "vitest/node";
import { temporaryFolder } from "./temporary-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    sharedRedisUrl: string;
  }
}

/** vitest's global setup: one Redis for the whole run. Tests keep apart by `uniquePrefix()`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await temporaryFolder("shared-redis");
  const redis = await startRedisServer({ dir: folder.path });
  project.provide("sharedRedisUrl", redis.url);
  return async () => {
    await redis.stop();
    await folder.remove();
  };
}
