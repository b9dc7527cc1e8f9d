import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { env } from "../contract/config.ts";
import { ConfigError } from "../contract/errors.ts";
import { DEFAULT_RETRY_SCHEDULE } from "../contract/retry-schedule.ts";
import { hmac } from "./providers/hmac.ts";
import { type ResolvedSource, resolveConfig } from "./sources.ts";

const SECRET = "made-up-secret";

type Environment = Record<string, string | undefined>;

function problems(config: unknown, environment: Environment = {}): readonly string[] {
  try {
    resolveConfig(config, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

/** One hmac source with these settings beside or instead of its own. */
const withSource = (settings: object) => ({
  sources: { default: { provider: "hmac", secret: SECRET, ...settings } },
});

function resolved(settings: object, environment: Environment = {}): ResolvedSource {
  return resolveConfig(withSource(settings), environment).sources.get("default") as ResolvedSource;
}

describe("resolveConfig", () => {
  it("fills in every default", () => {
    const config = resolveConfig(withSource({}));
    expect(config).toMatchObject({ queue: "webhooks", prefix: "{anvil}" });
    expect(config.sources.get("default")).toEqual({
      name: "default",
      provider: hmac,
      schemes: [{ scheme: hmac.scheme, keys: [Buffer.from(SECRET)] }],
      secrets: [SECRET],
      schedule: DEFAULT_RETRY_SCHEDULE,
      dedupeMs: 7 * 86_400_000,
      bodyLimit: 1024 * 1024,
      onDeadRedelivery: "keep",
      identity: "provider",
      split: false,
      handshake: { secrets: [SECRET] },
      publicUrl: "",
    });
  });

  it("takes what is set", () => {
    const settings = {
      retry: { schedule: [50] },
      dedupeMs: 1_000,
      bodyLimit: 25 * 1024 * 1024,
      onDeadRedelivery: "replay",
    };
    const {
      retry: { schedule },
      ...rest
    } = settings;
    expect(resolved(settings)).toMatchObject({ schedule, ...rest });
    expect(resolveConfig({ ...withSource({}), queue: "q", prefix: "{p}" })).toMatchObject({
      queue: "q",
      prefix: "{p}",
    });
  });

  it("reports everything that is wrong at once, each with its setting", () => {
    const config = {
      sources: {
        default: { provider: "hmac", secret: env("WEBHOOK_SECRET"), dedupeMs: 0 },
        "no/name": { provider: "hmac", secret: SECRET },
        stripe: { provider: "stripe", secret: "sk_test_made_up", previousSecret: "whsec_made_up\n" },
        github: { provider: "githib", secret: [] },
        hub: { provider: "github", secret: [], bodyLimit: 5 },
        billing: { secret: SECRET, retries: 3, onDeadRedelivery: "drop" },
        shop: { provider: "hmac", secret: env("SHOP_SECRET") },
        slow: { provider: "hmac", secret: SECRET, retry: { schedule: [0], delays: [1] } },
      },
      retry: { schedule: "1s" },
      queue: "a:b",
      prefix: "anvil",
      redis: "redis://queue:6379",
    };
    const found = problems(config, { ANVIL_RETRY_SCHEDULE: "1x", SHOP_SECRET: "" });
    for (const part of [
      'WEBHOOK_SECRET is not set (the secret of source "default", provider hmac)',
      "sources.default.dedupeMs: a whole number of milliseconds from 1 to 7776000000",
      'sources.no/name: a source\'s name is part of its URL; use up to 64 letters, digits, "-" and "_"',
      'sources.stripe.secret is an API key; the endpoint\'s signing secret is wanted, it starts with whsec_ (the secret of source "stripe", provider stripe)',
      "sources.stripe.previousSecret has white space around it",
      "sources.github.provider: unknown provider; did you mean github or gitlab?",
      "sources.hub.secret: name at least one secret",
      "sources.billing.provider: is missing",
      "sources.billing.retries: unknown setting; known are provider, secret, previousSecret, retry, dedupeMs, bodyLimit, onDeadRedelivery, limits",
      'sources.billing.onDeadRedelivery: "keep" or "replay"',
      'SHOP_SECRET is empty (the secret of source "shop", provider hmac)',
      "sources.slow.retry.schedule: each delay is a whole number",
      "sources.slow.retry.delays: unknown setting; known are schedule",
      "retry.schedule: a retry schedule is a list of delays in milliseconds",
      'queue "a:b": use letters',
      "redis: unknown setting; known are sources, retry, encryption, queue, prefix, durability",
      'ANVIL_RETRY_SCHEDULE: "1x" is no delay',
    ]) {
      expect(
        found.filter((problem) => problem.startsWith(part)),
        part,
      ).toHaveLength(1);
    }
    expect(found).toHaveLength(17);
    expect(found.find((problem) => problem.startsWith("queue"))).toContain(
      '; prefix "anvil": write it in braces',
    );
  });

  it.each([
    undefined,
    null,
    5,
    "text",
    [],
    {},
    { sources: {} },
    { sources: [] },
    { sources: null },
    { sources: 5 },
  ])("refuses %j, which has no source", (config) => {
    expect(problems(config)).toHaveLength(1);
  });

  it.each([null, undefined, 5, "text", true])("refuses a source that is %j", (source) => {
    expect(problems({ sources: { default: source } })).toHaveLength(1);
    expect(problems({ sources: { default: source } })[0]).toMatch(/^sources\.default: /);
  });

  it.each(["", "a/b", "a b", "-a", "a.b", "é", "x".repeat(65), "__proto__"])(
    "refuses the name %j",
    (name) => {
      const sources = JSON.parse(`{${JSON.stringify(name)}:{"provider":"hmac","secret":"${SECRET}"}}`);
      expect(problems({ sources })).toEqual([expect.stringContaining("a source's name is part of its URL")]);
    },
  );

  it("keeps sources apart that are named like properties of every object", () => {
    const config = resolveConfig({ sources: { constructor: { provider: "hmac", secret: SECRET } } });
    expect([...config.sources.keys()]).toEqual(["constructor"]);
    expect(config.sources.get("toString")).toBeUndefined();
  });

  it.each([0, -1, 0.5, NaN, Infinity, 25 * 1024 * 1024 + 1, "5", null])(
    "refuses the body limit %s",
    (bodyLimit) => {
      expect(problems(withSource({ bodyLimit }))).toEqual([
        "sources.default.bodyLimit: a whole number of bytes from 1 to 26214400",
      ]);
    },
  );

  it.each([0, -1, NaN, Infinity, 90 * 86_400_000 + 1, "7d"])(
    "refuses %s as dedupeMs, which would lose events",
    (dedupeMs) => {
      expect(problems(withSource({ dedupeMs }))).toEqual([
        "sources.default.dedupeMs: a whole number of milliseconds from 1 to 7776000000",
      ]);
    },
  );
});

describe("the retry schedule", () => {
  const global = { retry: { schedule: [1] } };
  const schedule = (config: object, ANVIL_RETRY_SCHEDULE?: string) =>
    resolveConfig(config, { ANVIL_RETRY_SCHEDULE }).sources.get("default")?.schedule;

  it("is the source's own before the environment's, before the configuration's, before the default", () => {
    const own = withSource({ retry: { schedule: [3] } });
    expect(schedule({ ...own, ...global }, "2ms")).toEqual([3]);
    expect(schedule({ ...withSource({}), ...global }, "2ms")).toEqual([2]);
    expect(schedule({ ...withSource({}), ...global })).toEqual([1]);
    expect(schedule(withSource({}))).toEqual(DEFAULT_RETRY_SCHEDULE);
  });

  it("takes an empty variable for an absent one, and none for no retry", () => {
    for (const text of ["", " "]) expect(schedule({ ...withSource({}), ...global }, text)).toEqual([1]);
    expect(schedule({ ...withSource({}), ...global }, "none")).toEqual([]);
    expect(schedule(withSource({ retry: { schedule: [] } }))).toEqual([]);
  });

  it.each(["1", "1s;2s", "0s", "31d", Array(51).fill("1s").join()])(
    "refuses ANVIL_RETRY_SCHEDULE=%s",
    (text) => {
      expect(problems(withSource({}), { ANVIL_RETRY_SCHEDULE: text })).toEqual([
        expect.stringMatching(/^ANVIL_RETRY_SCHEDULE: /),
      ]);
    },
  );

  it.each([NaN, Infinity, -1, 0, 0.5, "3"])("refuses a delay of %s", (delay) => {
    expect(problems(withSource({ retry: { schedule: [delay] } }))).toHaveLength(1);
    expect(problems({ ...withSource({}), retry: { schedule: [delay] } })).toHaveLength(1);
  });
});

describe("secrets", () => {
  const of = (provider: string, secret: unknown) => problems({ sources: { hook: { provider, secret } } });

  it.each([undefined, "", " ", "\n\t"])("that are %j refuse to start (H-15)", (value) => {
    for (const provider of ["hmac", "stripe", "github", "standard-webhooks"]) {
      const config = { sources: { hook: { provider, secret: env("HOOK_SECRET") } } };
      const found = problems(config, { HOOK_SECRET: value });
      expect(found).toHaveLength(1);
      expect(found[0]).toMatch(
        /^HOOK_SECRET is (not set|empty) \(the secret of source "hook", provider \S+\)$/,
      );
    }
  });

  it.each(["undefined", "null", "NaN", "[object Object]", "x", "short"])(
    "that are %j, as a template or a test leaves them, refuse to start (H-15)",
    (text) => {
      expect(of("hmac", text)).toHaveLength(1);
    },
  );

  it.each([
    `${SECRET}\n`,
    ` ${SECRET} `,
    `${SECRET}\r\n`,
    `"${SECRET}"`,
    `'${SECRET}'`,
    `\`${SECRET}\``,
    `\ufeff${SECRET}`,
  ])("with what a paste adds refuse to start, and name the variable (H-10): %j", (text) => {
    const found = problems(withSource({ secret: env("WEBHOOK_SECRET") }), { WEBHOOK_SECRET: text });
    expect(found).toEqual([
      expect.stringMatching(/^WEBHOOK_SECRET (has white space around it|is in quotes)/),
    ]);
  });

  it("keep their white space and quotes inside (H-10)", () => {
    const secret = `made "up"  secret\twith 'quotes'`;
    expect(resolved({ secret }).schemes[0]?.keys).toEqual([Buffer.from(secret)]);
  });

  it.each<[string, string, string]>([
    ["hmac", "v1,whsec_madeup", "starts with a signature's version"],
    ["hmac", "https://example.com/hooks", "is a URL"],
    ["hmac", "sk_live_madeup", "is an API key"],
    ["github", "rk_test_madeup", "is an API key"],
    ["hmac", "abc", "is shorter than 6 characters"],
    ["github", "v1,whsec_madeup", "starts with a signature's version"],
    ["github", "https://example.com/hooks", "is a URL"],
    ["github", "abc", "is shorter than 6 characters"],
    ["stripe", "v1,whsec_madeup", "starts with a signature's version"],
    ["stripe", "sk_test_madeup", "is an API key"],
    ["stripe", "rk_live_madeup", "is an API key"],
    ["stripe", "https://example.com/hooks", "is a URL"],
    ["stripe", "whsec_", "is no signing secret of Stripe"],
    ["stripe", "madeup-secret", "is no signing secret of Stripe"],
    ["standard-webhooks", "v1,whsec_bWFkZSB1cCBzZWNyZXQ=", "starts with a signature's version"],
    ["standard-webhooks", "v1a,whsec_bWFkZSB1cCBzZWNyZXQ=", "starts with a signature's version"],
    ["standard-webhooks", "sk_test_madeup", "is an API key"],
    ["standard-webhooks", "https://example.com/hooks", "is a URL"],
    ["standard-webhooks", "whsec_", "is not base64 behind whsec_"],
    ["standard-webhooks", "whsec_not base64!", "is not base64 behind whsec_"],
    ["standard-webhooks", "whsec_YQ==", "is base64 of fewer than 6 bytes"],
    ["standard-webhooks", "whpk_bWFkZSB1cCBrZXk=", "is not base64 behind whsec_, nor a public key"],
    ["standard-webhooks", "whsk_bWFkZSB1cCBrZXk=", "is a private key"],
  ])("of %s that are %s are refused: %s (H-11)", (provider, secret, problem) => {
    const found = of(provider, secret);
    expect(found).toEqual([expect.stringContaining(`sources.hook.secret ${problem}`)]);
    expect(found[0]).toContain(`(the secret of source "hook", provider ${provider})`);
    if (secret !== "whsec_") expect(found[0]).not.toContain(secret);
  });

  it("of Standard Webhooks are base64 with or without whsec_ and padding", () => {
    for (const secret of ["whsec_bWFkZSB1cA==", "whsec_bWFkZSB1cA", "bWFkZSB1cA=="]) {
      const config = resolveConfig({ sources: { hook: { provider: "standard-webhooks", secret } } });
      expect(config.sources.get("hook")?.schemes[0]?.keys).toEqual([Buffer.from("made up")]);
    }
  });

  it("are several while one is rotated, the current one first", () => {
    const previousSecret = env("PREVIOUS");
    const settings = { secret: [SECRET, env("SECOND")], previousSecret };
    expect(resolved(settings, { SECOND: "made-up-second", PREVIOUS: "made-up-previous" }).secrets).toEqual([
      SECRET,
      "made-up-second",
      "made-up-previous",
    ]);
  });

  it.each([undefined, ""])("before the current one may be %j", (PREVIOUS) => {
    expect(resolved({ previousSecret: env("PREVIOUS") }, { PREVIOUS }).secrets).toEqual([SECRET]);
  });

  it.each([" ", "abc", "made-up-previous\n", "undefined"])(
    "before the current one are refused when wrong: %j",
    (PREVIOUS) => {
      expect(problems(withSource({ previousSecret: env("PREVIOUS") }), { PREVIOUS })).toEqual([
        expect.stringMatching(/^PREVIOUS .*\(the secret of source "default", provider hmac\)$/),
      ]);
    },
  );

  it("in a list are named by their place", () => {
    expect(problems(withSource({ secret: [SECRET, "abc", env("THIRD")] }))).toEqual([
      expect.stringMatching(/^sources\.default\.secret\[1\] is shorter/),
      expect.stringMatching(/^THIRD is not set/),
    ]);
  });

  it.each([5, null, true, {}, { env: 5 }, { env: "" }, { file: "x" }, [5], [[SECRET]]])(
    "can't be %j",
    (secret) => {
      expect(problems(withSource({ secret }))).toEqual([expect.stringMatching(/^sources\.default\.secret/)]);
    },
  );

  it.each(["whsec_madeup", "sk_test_madeup", "made-up-secret", "made up", "A=B"])(
    'are not what env() takes: env("%s")',
    (name) => {
      expect(problems(withSource({ secret: env(name) }))).toEqual([
        'sources.default.secret.env: the name of a variable, as in env("WEBHOOK_SECRET"), not the secret itself',
      ]);
    },
  );
});

describe("no error ever repeats a secret", () => {
  /** Looks like a secret, and long enough to be found in a message by nothing but a leak. */
  const madeUp = fc
    .tuple(
      fc.constantFrom("whsec_", "sk_live_", "", "v1,whsec_", "https://example.com/"),
      fc.stringMatching(/^[A-Za-z0-9+/=_-]{12,40}$/),
    )
    .map(([start, rest]) => `${start}Qz${rest}`);
  const spoilt = fc
    .tuple(madeUp, fc.constantFrom("%", "%\n", " %", '"%"', "'%'", "v1,%", "whsec_%", "whpk_%", "%é"))
    .map(([secret, form]) => ({ secret, text: form.replace("%", () => secret) }));
  const provider = fc.constantFrom("hmac", "stripe", "github", "standard-webhooks");

  /** Each puts the text where somebody once put a secret by mistake. */
  const mistakes: Record<string, (text: string, name: string) => [unknown, Environment?]> = {
    "a secret of another form": (text, name) => [{ sources: { a: { provider: name, secret: text } } }],
    "one of several": (text, name) => [{ sources: { a: { provider: name, secret: [text, text, ""] } } }],
    "the previous one": (text, name) => [
      { sources: { a: { provider: name, secret: "", previousSecret: text } } },
    ],
    "in the environment": (text, name) => [
      { sources: { a: { provider: name, secret: env("S") } } },
      { S: text },
    ],
    "in env() itself": (text, name) => [{ sources: { a: { provider: name, secret: env(`whsec_${text}`) } } }],
    "in a list in a list": (text, name) => [{ sources: { a: { provider: name, secret: [[text]] } } }],
    "under another name": (text, name) => [{ sources: { a: { provider: name, signingSecret: text } } }],
    "in an object": (text, name) => [
      { sources: { a: { provider: name, secret: { value: text, env: text } } } },
    ],
    "as the provider": (text) => [{ sources: { a: { provider: text, secret: text } } }],
    "as the source": (text) => [{ sources: { a: text } }],
    "as all sources": (text) => [{ sources: text }],
    "as the configuration": (text) => [text],
    "as every other setting": (text, name) => [
      {
        sources: {
          a: {
            provider: name,
            secret: "",
            retry: text,
            dedupeMs: text,
            bodyLimit: text,
            onDeadRedelivery: text,
          },
        },
        retry: text,
      },
    ],
    "as an unknown setting": (text) => [{ sources: { a: { provider: "hmac", secret: "" } }, secret: text }],
  };

  it.each(Object.entries(mistakes))("given %s", (_, mistake) => {
    let refused = 0;
    fc.assert(
      fc.property(spoilt, provider, ({ secret, text }, name) => {
        const [config, environment] = mistake(text, name);
        const message = problems(config, environment).join("\n");
        expect(message).not.toContain(secret);
        if (message !== "") refused++;
      }),
    );
    expect(refused).toBeGreaterThan(50);
  });
});
