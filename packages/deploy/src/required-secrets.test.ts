import { describe, expect, it } from "vitest";
import { env } from "webhook-anvil/config";
import { checkSecrets, requiredSecrets } from "./required-secrets.ts";

const config = {
  sources: {
    default: {
      provider: "hmac",
      secret: env("WEBHOOK_SECRET"),
      previousSecret: env("WEBHOOK_SECRET_PREVIOUS"),
    },
  },
};

describe("the secrets that a deployment needs", () => {
  it.each([
    ["elasticache", []],
    ["url", ["RedisUrl"]],
    ["upstash", ["RedisUrl", "UpstashRedisRestUrl", "UpstashRedisRestToken"]],
  ] as const)("with redis %s are the sources' and %j", (redis, more) => {
    expect(requiredSecrets({ redis }, config)).toEqual(["WebhookSecret", ...more]);
  });

  it("are the encryption key, too, and not the ones before it", () => {
    const encryption = { key: env("ANVIL_ENCRYPTION_KEY"), previousKeys: [env("OLD_KEY")] };
    expect(requiredSecrets({ redis: "elasticache" }, { ...config, encryption })).toEqual([
      ...["WebhookSecret", "AnvilEncryptionKey"],
    ]);
  });

  it("may be set", () => {
    const secrets = { SST_SECRET_WebhookSecret: "made-up", SST_SECRET_RedisUrl: "rediss://made-up" };
    expect(() => checkSecrets({ redis: "url", stage: "jane" }, config, secrets)).not.toThrow();
  });

  it("are asked for all at once, with the command for each and no value", () => {
    const secrets = { SST_SECRET_WebhookSecret: " ", SST_SECRET_RedisUrl: "redis://:made-up-password@host" };
    expect(() => checkSecrets({ redis: "url", stage: "jane" }, config, secrets)).toThrow(
      [
        "Secrets are missing:",
        "- WebhookSecret is not set: sst secret set WebhookSecret '…' --stage jane",
        "- RedisUrl has to begin with rediss://: sst secret set RedisUrl 'rediss://…' --stage jane",
      ].join("\n"),
    );
  });
});
