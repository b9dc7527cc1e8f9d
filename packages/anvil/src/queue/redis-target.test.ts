import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../contract/errors.ts";
import { describeAddress, type RedisTarget, redisAddress } from "./redis-target.ts";

function refusal(target: RedisTarget, setting?: string): string {
  try {
    redisAddress(target, setting);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("accepted");
}

describe("redisAddress", () => {
  it("takes a URL apart: host, port, database, user, password, TLS (H-55)", () => {
    expect(redisAddress("rediss://worker:made-up@queue.example.com:6380/3")).toEqual({
      nodes: [{ host: "queue.example.com", port: 6380 }],
      cluster: false,
      auth: { username: "worker", password: "made-up", db: 3, tls: {} },
    });
  });

  it("has port 6379, database 0, no user and no TLS by default", () => {
    for (const url of ["redis://queue", "redis://queue/", " redis://queue:6379\n"]) {
      expect(redisAddress(url)).toEqual({ nodes: [{ host: "queue", port: 6379 }], cluster: false, auth: {} });
    }
    expect(redisAddress("redis://queue/0").auth).toEqual({ db: 0 });
  });

  it("keeps TLS for every spelling of rediss, with and without options", () => {
    expect(redisAddress("rediss://queue").auth.tls).toEqual({});
    expect(redisAddress("REDISS://queue").auth.tls).toEqual({});
    const tls = { ca: "made-up certificate" };
    expect(redisAddress({ url: "rediss://queue", tls }).auth.tls).toEqual(tls);
  });

  it("knows a password without a user, and a user without a password", () => {
    expect(redisAddress("redis://:made-up@queue").auth).toEqual({ password: "made-up" });
    expect(redisAddress("redis://worker@queue").auth).toEqual({ username: "worker" });
  });

  it.each([
    ["@ : / % percent-encoded", "p%40s%3As%2Fw%25d", "p@s:s/w%d"],
    ["# ? & = + percent-encoded", "a%23b%3Fc%26d%3De%2Bf", "a#b?c&d=e+f"],
    ["+ as it is", "a+b", "a+b"],
    ["UTF-8 percent-encoded", "p%C3%A9%F0%9F%98%80", "pé😀"],
    ["UTF-8 as it is", "pé😀", "pé😀"],
    ["@ as it is", "p@ss@word", "p@ss@word"],
    [": as it is", "p:ss:word", "p:ss:word"],
    ["% as it is", "100%", "100%"],
    ["% as it is before other characters", "100%zz%", "100%zz%"],
    ["% and @ as they are", "100%@home", "100%@home"],
    ["% and é as they are", "50%é", "50%é"],
    ["bytes that are no UTF-8", "a%FFb", "a%FFb"],
  ])("reads a password with %s (H-55)", (_, written, password) => {
    const { nodes, auth } = redisAddress(`rediss://worker:${written}@queue:6380/3`);
    expect(auth).toEqual({ username: "worker", password, db: 3, tls: {} });
    expect(nodes).toEqual([{ host: "queue", port: 6380 }]);
  });

  it("reads any user and any password that are percent-encoded", () => {
    const text = fc.string({ unit: "grapheme", minLength: 1 });
    fc.assert(
      fc.property(text, text, (username, password) => {
        const url = `redis://${encodeURIComponent(username)}:${encodeURIComponent(password)}@queue/1`;
        expect(redisAddress(url).auth).toEqual({ username, password, db: 1 });
      }),
    );
  });

  it.each<[string, string, number]>([
    ["redis://[::1]", "::1", 6379],
    ["rediss://worker:made-up@[2001:db8::17]:6380/3", "2001:db8::17", 6380],
    ["redis://127.0.0.1:6380", "127.0.0.1", 6380],
  ])("reads the address in %s", (url, host, port) => {
    expect(redisAddress(url).nodes).toEqual([{ host, port }]);
  });

  it.each([
    ["family=4", { family: 4 }],
    ["family=6", { family: 6 }],
    ["family=5", {}],
    ["other=1", {}],
  ])("reads the query ?%s", (query, auth) => {
    expect(redisAddress(`redis://queue:6379?${query}`).auth).toEqual(auth);
    expect(redisAddress(`redis://queue:6379/2?${query}`).auth).toEqual({ db: 2, ...auth });
  });

  it("knows a cluster by ?cluster=true, by the option, and by a list", () => {
    expect(redisAddress("redis://queue?cluster=true").cluster).toBe(true);
    expect(redisAddress("redis://queue/0?cluster=true")).toMatchObject({ cluster: true, auth: {} });
    expect(redisAddress("redis://queue?cluster=false").cluster).toBe(false);
    expect(redisAddress({ url: "redis://queue", cluster: true }).cluster).toBe(true);
    expect(redisAddress({ url: "redis://queue?cluster=true", cluster: false }).cluster).toBe(false);
    expect(redisAddress("rediss://w:a,b@one:1, rediss://two:2,rediss://[::3]:3")).toEqual({
      nodes: [
        { host: "one", port: 1 },
        { host: "two", port: 2 },
        { host: "::3", port: 3 },
      ],
      cluster: true,
      auth: { username: "w", password: "a,b", tls: {} },
    });
  });
});

describe("redisAddress by sentinels", () => {
  it("takes the URL apart: sentinels, the primary's name, user, password, database", () => {
    expect(redisAddress("redis-sentinel://worker:made-up@one:1,two,[::3]:3/mymaster?db=3")).toEqual({
      nodes: [
        { host: "one", port: 1 },
        { host: "two", port: 26379 },
        { host: "::3", port: 3 },
      ],
      cluster: false,
      auth: { username: "worker", password: "made-up", db: 3 },
      sentinel: { name: "mymaster" },
    });
    expect(redisAddress(" REDIS-SENTINEL://one/my.master_2-a\n")).toEqual({
      nodes: [{ host: "one", port: 26379 }],
      cluster: false,
      auth: {},
      sentinel: { name: "my.master_2-a" },
    });
  });

  it("reads the sentinels' own user and password, which the primary's never stand in for", () => {
    const own = "sentinelUsername=watcher&sentinelPassword=p%40s%2Bs+w%25d%26";
    expect(redisAddress(`redis-sentinel://:made-up@one/m?${own}`)).toMatchObject({
      auth: { password: "made-up" },
      sentinel: { sentinelUsername: "watcher", sentinelPassword: "p@s+s+w%d&" },
    });
    const sentinel = { username: "watcher", password: "made-up-too" };
    expect(redisAddress({ url: "redis-sentinel://one/m?sentinelPassword=other", sentinel }).sentinel).toEqual(
      {
        name: "m",
        sentinelUsername: "watcher",
        sentinelPassword: "made-up-too",
      },
    );
    expect(redisAddress("redis-sentinel://w:made-up@one/m").sentinel).toEqual({ name: "m" });
  });

  it("speaks TLS to both, with the same options, unless told otherwise (H-55)", () => {
    expect(redisAddress("rediss-sentinel://one/m")).toMatchObject({
      auth: { tls: {} },
      sentinel: { sentinelTLS: {} },
    });
    const tls = { ca: "made-up certificate" };
    expect(redisAddress({ url: "rediss-sentinel://one/m", tls })).toMatchObject({
      auth: { tls },
      sentinel: { sentinelTLS: tls },
    });
    const sentinelTls = { ca: "another" };
    expect(
      redisAddress({ url: "rediss-sentinel://one/m", tls, sentinel: { tls: sentinelTls } }),
    ).toMatchObject({ auth: { tls }, sentinel: { sentinelTLS: sentinelTls } });
    expect(redisAddress({ url: "rediss-sentinel://one/m", sentinel: { tls: false } })).toEqual({
      nodes: [{ host: "one", port: 26379 }],
      cluster: false,
      auth: { tls: {} },
      sentinel: { name: "m" },
    });
  });

  it.each(["p@ss,word", "p:ss,two:2", "100%"])("reads the password %s as it is", (password) => {
    const { nodes, auth } = redisAddress(`redis-sentinel://w:${password}@one:1,two:2/m`);
    expect(auth).toEqual({ username: "w", password });
    expect(nodes).toHaveLength(2);
  });

  it.each([
    ["redis-sentinel://", "is no Redis URL; write redis-sentinel://host:26379,host:26379/"],
    ["redis-sentinel:one/m", "is no Redis URL"],
    ["redis-sentinel:///m", "is no Redis URL"],
    ["redis-sentinel://one,/m", "is no Redis URL"],
    ["redis-sentinel://one:port/m", "is no Redis URL"],
    ["redis-sentinel://one,redis-sentinel://two/m", "the sentinels' name for the primary"],
    ["redis-sentinel://one", "the sentinels' name for the primary follows their hosts"],
    ["redis-sentinel://one/", "the sentinels' name for the primary"],
    ["redis-sentinel://one/m/0", "the sentinels' name for the primary"],
    ["redis-sentinel://one/m?db=three", "db is the database's number"],
    ["redis-sentinel://one/m?cluster=true", "a Redis Cluster has no sentinels"],
  ])("refuses %s", (url, message) => {
    expect(refusal(url)).toContain(message);
  });

  it("refuses options that would be dropped", () => {
    expect(refusal({ url: "redis-sentinel://one/m", tls: {} })).toContain("write rediss-sentinel://");
    expect(refusal({ url: "redis-sentinel://one/m", sentinel: { tls: {} } })).toContain(
      "write rediss-sentinel://",
    );
    expect(refusal({ url: "redis://one", sentinel: { password: "made-up" } })).toContain(
      "write redis-sentinel://",
    );
    expect(refusal({ url: "redis-sentinel://one/m", cluster: true })).toContain(
      "a Redis Cluster has no sentinels",
    );
  });
});

describe("a target that can't be used", () => {
  const malformed = [
    "",
    "queue",
    "queue:6379",
    "localhost:6379",
    "//queue:6379",
    "http://queue:6379",
    "https://queue",
    "unix:///run/redis.sock",
    "redis:",
    "redis://",
    "redis:///0",
    "redis://queue:port",
    "redis://queue:65536",
    "redis://one:6379,two:6379",
    "redis://one:6379,http://two:6379",
    "undefined",
  ];

  it.each(malformed)("is refused: %j", (url) => {
    expect(refusal(url)).toContain("redis: is no Redis URL; write redis://host:6379, or rediss:// for TLS");
  });

  it.each([
    ["redis://queue/three", "the database's number"],
    ["redis://queue/1/2", "the database's number"],
    ["redis://queue/-1", "the database's number"],
    ["redis://queue/12345", "the database's number"],
    ["redis://queue/3?cluster=true", "a Redis Cluster has database 0 only"],
    ["redis://one/1,redis://two/1", "a Redis Cluster has database 0 only"],
    ["redis://one,rediss://two", "mixes redis:// and rediss://"],
    ["rediss://one,redis://two", "mixes redis:// and rediss://"],
  ])("is refused: %s", (url, message) => {
    expect(refusal(url)).toContain(message);
  });

  it("is refused when TLS options would be dropped", () => {
    expect(refusal({ url: "redis://queue", tls: {} })).toContain("write rediss://");
  });

  it("is named as its setting is called", () => {
    expect(refusal("queue:6379", "REDIS_URL")).toMatch(/^Configuration: REDIS_URL: /);
  });
});

describe("the password", () => {
  it.each([
    "redis://worker:4711/half@queue",
    "redis://worker:4711?half@queue",
    "redis://worker:4711#half@queue",
    "redis://worker:half#4711@queue",
    "redis://:4711#half@queue",
    "redis-sentinel://worker:4711/half@queue/m",
    "redis-sentinel://worker:4711?half@queue/m",
    "redis-sentinel://worker:4711#half@queue/m",
    "redis-sentinel://queue/m?sentinelPassword=half@4711",
    "redis-sentinel://queue/m?sentinelPassword=half#4711",
  ])(
    "%s, unencoded where it can't be, is refused instead of being taken for a port, and is not repeated",
    (url) => {
      expect(refusal(url)).not.toMatch(/4711|half|worker/);
    },
  );

  it("is never in an error or in what describes the address", () => {
    // Digits look like a port, and what follows them may end the host.
    const password = fc
      .array(
        fc.constantFrom("@", ":", "/", "%", "#", "?", ",", "&", "=", " ", "[", "é", "%41", "71236", "Qz"),
        {
          minLength: 1,
          maxLength: 8,
        },
      )
      .map((parts) => `71236${parts.join("")}QzMadeUp`);
    const rest = fc.constantFrom(
      "queue:6379/3",
      "queue",
      "queue/x",
      "[::1]:6380",
      "queue?cluster=true",
      "one:1,two:2/mymaster?db=1",
      "",
      "queue:x",
    );
    fc.assert(
      fc.property(
        password,
        fc.boolean(),
        rest,
        fc.constantFrom("redis", "rediss", "http", "redis-sentinel", "rediss-sentinel"),
        (text, raw, end, scheme) => {
          const url = `${scheme}://worker:${raw ? text : encodeURIComponent(text)}@${end}`;
          let said: string;
          try {
            said = describeAddress(redisAddress(url));
          } catch (error) {
            if (!(error instanceof ConfigError)) throw error;
            said = error.message;
          }
          expect(said).not.toMatch(/71236|QzMadeUp|worker/);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe("describeAddress", () => {
  it.each([
    ["redis://worker:made-up@queue:6380", "queue:6380"],
    ["rediss://worker:made-up@queue/3", "queue:6379/3 (TLS)"],
    ["redis://one,redis://two:2", "one:6379,two:2"],
    ["redis://queue/0", "queue:6379"],
    ["redis-sentinel://worker:made-up@one:1,two/mymaster", "mymaster by the sentinels one:1,two:26379"],
    ["rediss-sentinel://one/mymaster?db=3", "mymaster/3 (TLS) by the sentinels one:26379"],
  ])("describes %s as %s", (url, text) => {
    expect(describeAddress(redisAddress(url))).toBe(text);
  });
});
