import { askRedis } from "anvil-bootstrap/redis-probe";
import { afterAll } from "vitest";
import { watchOpenResources } from "./open-resources.ts";
import { sharedRedisUrl } from "./redis.ts";
import { waitUntil } from "./wait-until.ts";

// A setup file of vitest: it runs before each test file, and its afterAll is the last of that file.
// What a test leaves open makes a later one fail, somewhere else and some other day, so it fails here and now.

const open = watchOpenResources();

afterAll(async () => {
  const port = Number(new URL(sharedRedisUrl()).port);
  const find = async (): Promise<string[]> => [
    ...(await describeConnections(port, open.connectionsTo(port))),
    ...open.children().map((child) => `child process ${child}`),
  ];
  try {
    // A `disconnect()` or a kill of a moment ago takes effect a moment later.
    await waitUntil(async () => (await find()).length === 0, {
      what: "everything is closed",
      timeoutMs: 2_000,
    });
  } catch (cause) {
    const leaks = await find();
    if (leaks.length === 0) return;
    throw new Error(`This test file left open, and must close or end:\n  ${leaks.join("\n  ")}`, { cause });
  }
});

/** By the name and last command that Redis knows them by: a local port alone says little. */
async function describeConnections(port: number, localPorts: readonly number[]): Promise<string[]> {
  if (localPorts.length === 0) return [];
  const clients = String(await askRedis(port, ["CLIENT", "LIST"])).split("\n");
  return localPorts.map((localPort) => {
    const client = clients.find((line) => line.includes(` addr=127.0.0.1:${localPort} `)) ?? "";
    const name = /\bname=(\S+)/.exec(client)?.[1] ?? "without a name";
    const command = /\bcmd=(\S+)/.exec(client)?.[1] ?? "unknown";
    return `connection to the shared Redis, ${name}, last command ${command}`;
  });
}
