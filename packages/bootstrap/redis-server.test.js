import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { waitUntil } from "anvil-testkit";
import { describe, expect, it, onTestFinished } from "vitest";
import { lives, program, temporaryFolder } from "./fixtures/temporary.js";
import { askRedis } from "./redis-probe.js";
import { RedisExitedError, startRedisServer } from "./redis-server.js";

/** @param {Parameters<typeof startRedisServer>[0]} options */
async function start(options) {
  const redis = await startRedisServer(options);
  onTestFinished(() => redis.stop());
  return redis;
}

describe("startRedisServer", () => {
  it("answers at once, on the loopback, evicts nothing, and is gone after stop", async () => {
    const dir = temporaryFolder();
    const redis = await start({ dir });
    expect(redis.url).toBe(`redis://127.0.0.1:${redis.port}`);
    expect(await askRedis(redis.port, ["PING"])).toBe("PONG");
    for (const [setting, value] of /** @type {const} */ ([
      ["bind", "127.0.0.1"],
      ["maxmemory-policy", "noeviction"],
      ["appendonly", "no"],
      ["save", ""],
      ["dir", dir],
    ])) {
      expect(await askRedis(redis.port, ["CONFIG", "GET", setting])).toEqual([setting, value]);
    }
    await redis.stop();
    expect(lives(redis.pid)).toBe(false);
    await expect(askRedis(redis.port, ["PING"])).rejects.toThrow("ECONNREFUSED");
    expect(readdirSync(dir)).toEqual([]);
  });

  it("keeps its data with appendonly", async () => {
    const dir = temporaryFolder();
    const first = await start({ dir, appendonly: true });
    await askRedis(first.port, ["SET", "kept", "yes"]);
    await first.stop();
    const second = await start({ dir, appendonly: true });
    expect(await askRedis(second.port, ["GET", "kept"])).toBe("yes");
  });

  it("says so when the port it was given is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const port = /** @type {import("node:net").AddressInfo} */ (other.address()).port;
    const failure = startRedisServer({ dir: temporaryFolder(), port });
    await expect(failure).rejects.toThrow(
      /ended before it answered \(exit code 1\)[\s\S]*Address already in use/,
    );
  });

  it("is not fooled by another Redis on the port it was given", async () => {
    const other = await start({ dir: temporaryFolder() });
    const failure = startRedisServer({ dir: temporaryFolder(), port: other.port });
    await expect(failure).rejects.toMatchObject({ name: "RedisExitedError", portTaken: true });
  });

  it("tries another port when one that looked free got taken", async () => {
    const dir = temporaryFolder();
    const tries = `${dir}/tries`;
    const server = program(
      dir,
      "unlucky-redis",
      `#!/bin/sh\necho try >> ${tries}\n` +
        `if [ "$(wc -l < ${tries})" -lt 3 ]; then echo "bind: Address already in use"; exit 1; fi\n` +
        `exec ${process.env.ANVIL_REDIS_SERVER || "redis-server"} "$@"\n`,
    );
    const redis = await start({ dir, server });
    expect(await askRedis(redis.port, ["PING"])).toBe("PONG");
  });

  it("tells the last log lines of a server that ends early", async () => {
    const failure = startRedisServer({ dir: temporaryFolder(), args: ["--no-such-setting", "1"] });
    await expect(failure).rejects.toThrow(RedisExitedError);
    await expect(failure).rejects.toThrow(/no-such-setting/);
  });

  it("gives up on a server that never answers, and ends it", async () => {
    const dir = temporaryFolder();
    const server = program(dir, "mute-redis", `#!/bin/sh\necho $$ > ${dir}/pid\necho mute\nexec sleep 60\n`);
    const failure = startRedisServer({ dir, server, startLimitMs: 300 });
    await expect(failure).rejects.toThrow(/did not answer within 300 ms[\s\S]*mute/);
  });

  it("kills a server that does not end when asked to", async () => {
    const redis = await start({ dir: temporaryFolder() });
    redis.signal("SIGSTOP");
    // The SIGCONT in stop() wakes it, so hold it for good.
    const holding = setInterval(() => lives(redis.pid) && process.kill(redis.pid, "SIGSTOP"), 1);
    await redis.stop({ limitMs: 50 });
    clearInterval(holding);
    expect(lives(redis.pid)).toBe(false);
  });
});

describe("a server whose parent ends", () => {
  for (const end of ["exit", "SIGKILL", "SIGTERM"]) {
    it(`ends too (${end})`, async () => {
      const entry = fileURLToPath(new URL("fixtures/start-redis-and-wait.js", import.meta.url));
      const parent = spawn(process.execPath, [entry, temporaryFolder(), end], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void parent.kill("SIGKILL"));
      const [line] = await once(parent.stdout, "data");
      const { port } = JSON.parse(String(line));
      if (end !== "exit") parent.kill(/** @type {NodeJS.Signals} */ (end));
      await waitUntil(() => askRedis(port, ["PING"]).catch((error) => error.code === "ECONNREFUSED"), {
        what: `the server of the ended process is gone from port ${port}`,
      });
    });
  }
});
