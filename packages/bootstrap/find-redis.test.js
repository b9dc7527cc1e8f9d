import { describe, expect, it, onTestFinished, vi } from "vitest";
import { findRedisServer } from "./find-redis.js";
import { program, temporaryFolder } from "./fixtures/temporary.js";
import { askRedis } from "./redis-probe.js";
import { startRedisServer } from "./redis-server.js";

/** @param {Record<string, string>} programs */
function machine(programs) {
  const dir = temporaryFolder();
  for (const [name, script] of Object.entries(programs)) program(dir, name, `#!/bin/sh\n${script}\n`);
  return { dir, options: { env: { PATH: dir }, platform: /** @type {const} */ ("linux"), uid: 0 } };
}

describe("findRedisServer", () => {
  it("takes redis-server before valkey-server, and either before installing", async () => {
    const both = machine({ "redis-server": "", "valkey-server": "", "apt-get": "exit 9" });
    expect(await findRedisServer(both.options)).toBe(`${both.dir}/redis-server`);
    const valkey = machine({ "valkey-server": "", "apt-get": "exit 9" });
    expect(await findRedisServer(valkey.options)).toBe(`${valkey.dir}/valkey-server`);
  });

  it("takes the one that ANVIL_REDIS_SERVER names, and says so when that is none", async () => {
    const { dir, options } = machine({ "my-redis": "", "redis-server": "" });
    const named = { ...options, env: { ...options.env, ANVIL_REDIS_SERVER: `${dir}/my-redis` } };
    expect(await findRedisServer(named)).toBe(`${dir}/my-redis`);
    named.env.ANVIL_REDIS_SERVER = `${dir}/nothing`;
    await expect(findRedisServer(named)).rejects.toThrow(
      /ANVIL_REDIS_SERVER names .*nothing, which is no program/,
    );
  });

  it("installs it with apt-get as root", async () => {
    // The stand-in "installs" by writing the program beside itself.
    const { dir, options } = machine({
      "apt-get": `case "$*" in *install*redis-server) d=\${0%/*}; echo > $d/redis-server; /bin/chmod +x $d/redis-server;; esac`,
    });
    /** @type {string[]} */
    const said = [];
    expect(await findRedisServer({ ...options, log: (line) => said.push(line) })).toBe(`${dir}/redis-server`);
    expect(said).toEqual(["redis: installing redis-server with apt-get, its service is not started"]);
  });

  it("goes on to Docker when apt-get fails, and pulls the image", async () => {
    const { options } = machine({
      "apt-get": "echo E: no such package; exit 100",
      docker: 'case "$1" in image) exit 1;; esac',
    });
    /** @type {string[]} */
    const said = [];
    expect(await findRedisServer({ ...options, log: (line) => said.push(line) })).toMatch(
      /^docker:valkey\/valkey:/,
    );
    expect(said.at(-1)).toMatch(/^redis: pulling the image/);
  });

  it("names what failed and the three ways when there is none", async () => {
    const { options } = machine({ "apt-get": "exit 1", docker: "exit 1" });
    const failure = findRedisServer({ ...options, uid: 1000 });
    await expect(failure).rejects.toThrow(
      /neither redis-server nor valkey-server is on the PATH; apt-get needs root; the Docker engine does not answer/,
    );
    await expect(failure).rejects.toThrow(/1\. install one[\s\S]*2\. start Docker[\s\S]*3\. .*REDIS_URL/);
  });
});

describe("a server that Docker runs", () => {
  it("is started on the loopback, answers, and is removed by its name", async () => {
    const server = process.env.ANVIL_REDIS_SERVER || (await findRedisServer());
    // A stand-in for the engine: it runs the server here, on the port and folder that were to be published.
    const { dir } = machine({
      docker: `
        case "$1" in
        run)
          name=$4; published=$6; volume=$8
          while [ "$1" != valkey-server ]; do shift; done; shift 9
          echo $$ > \${0%/*}/$name
          port=\${published#127.0.0.1:}
          exec ${server} --port \${port%:6379} --bind 127.0.0.1 "$@" --dir \${volume%:/data} ;;
        kill) kill -s \${3#SIG} $(cat \${0%/*}/$4) ;;
        rm) kill -9 $(cat \${0%/*}/$3) ;;
        esac`,
    });
    vi.stubEnv("PATH", `${dir}:${process.env.PATH}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const redis = await startRedisServer({ dir: temporaryFolder(), server: "docker:valkey/valkey:8-alpine" });
    expect(await askRedis(redis.port, ["PING"])).toBe("PONG");
    await redis.stop();
    await expect(askRedis(redis.port, ["PING"])).rejects.toThrow("ECONNREFUSED");
  });
});
