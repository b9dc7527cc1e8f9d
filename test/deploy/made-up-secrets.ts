import config from "../../anvil.config.ts";
import { configSecrets, redisSecrets } from "../../packages/deploy/src/link-names.ts";

/** A value for every secret that some deployment may ask for, by the name that `sst secret set` takes. */
export const madeUpSecrets: Readonly<Record<string, string>> = {
  ...Object.fromEntries(configSecrets(config).map(({ link }) => [link, `made-up-value-of-${link}`])),
  [redisSecrets.REDIS_URL]: "rediss://default:made-up-password@127.0.0.1:1",
  [redisSecrets.UPSTASH_REDIS_REST_URL]: "https://made-up-host.example.com",
  [redisSecrets.UPSTASH_REDIS_REST_TOKEN]: "made-up-token",
};
