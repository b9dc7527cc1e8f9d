import { describe, expect, it } from "vitest";
import { env } from "webhook-anvil/config";
import { configSecrets, encryptionSecrets, linkName, redisSecrets } from "./link-names.ts";

const source = (secret: unknown, previousSecret?: unknown) =>
  ({ provider: "hmac", secret, ...(previousSecret === undefined ? {} : { previousSecret }) }) as never;

describe("the names of SST secrets", () => {
  it.each([
    ["WEBHOOK_SECRET", "WebhookSecret"],
    ["STRIPE_2_SECRET", "Stripe2Secret"],
    ["github", "Github"],
    ["A__B_", "AB"],
  ])("%s is set as %s", (variable, link) => expect(linkName(variable)).toBe(link));

  it("are those of Redis's own variables, too", () => {
    for (const [variable, link] of Object.entries(redisSecrets)) expect(linkName(variable)).toBe(link);
  });
});

describe("the secrets of the sources", () => {
  it("are what env() names, each once; only the one before the current may be unset", () => {
    expect(
      configSecrets({
        sources: {
          default: source(env("WEBHOOK_SECRET"), env("WEBHOOK_SECRET_PREVIOUS")),
          stripe: source([env("STRIPE_SECRET"), env("STRIPE_SECRET_EU"), "in the file"]),
          other: source(env("WEBHOOK_SECRET")),
        },
      }),
    ).toEqual([
      { variable: "WEBHOOK_SECRET", link: "WebhookSecret", optional: false },
      { variable: "WEBHOOK_SECRET_PREVIOUS", link: "WebhookSecretPrevious", optional: true },
      { variable: "STRIPE_SECRET", link: "StripeSecret", optional: false },
      { variable: "STRIPE_SECRET_EU", link: "StripeSecretEu", optional: false },
    ]);
  });

  it.each([
    [[env("X"), env("A")], env("X")],
    [[env("A"), env("X")], undefined],
  ])("are required when any source requires them", (secret, previous) => {
    const secrets = configSecrets({
      sources: { one: source(env("B"), env("X")), two: source(secret, previous) },
    });
    expect(secrets.find(({ variable }) => variable === "X")?.optional).toBe(false);
  });

  it.each([
    [
      ["STRIPE_SECRET", "STRIPESECRET"],
      "STRIPESECRET and STRIPE_SECRET would be the same SST secret, Stripesecret",
    ],
    [["redis"], "redis would be the SST secret Redis, a name that is taken"],
    [["REDIS_URL"], "REDIS_URL would be the SST secret RedisUrl, a name that is taken"],
    [["_1"], "_1 can't be an SST secret: begin with a letter"],
  ])("can't have names that clash: %j", (variables, problem) => {
    const sources = Object.fromEntries(variables.map((variable) => [variable, source(env(variable))]));
    expect(() => configSecrets({ sources })).toThrow(`anvil.config.ts: ${problem}`);
  });
});

describe("the encryption keys", () => {
  const encryption = { key: env("ANVIL_ENCRYPTION_KEY"), previousKeys: [env("OLD_KEY"), "in the file"] };

  it("are secrets like the sources', the older ones optional", () => {
    const keys = [
      { variable: "ANVIL_ENCRYPTION_KEY", link: "AnvilEncryptionKey", optional: false },
      { variable: "OLD_KEY", link: "OldKey", optional: true },
    ];
    expect(encryptionSecrets({ encryption })).toEqual(keys);
    expect(encryptionSecrets({})).toEqual([]);
    const sources = { default: source(env("WEBHOOK_SECRET")) };
    expect(configSecrets({ sources, encryption }).map(({ variable }) => variable)).toEqual([
      ...["WEBHOOK_SECRET", "ANVIL_ENCRYPTION_KEY", "OLD_KEY"],
    ]);
  });

  it("can't have a name that clashes with another secret's", () => {
    const sources = { default: source(env("OLDKEY")) };
    expect(() => configSecrets({ sources, encryption })).toThrow("OLD_KEY");
  });
});
