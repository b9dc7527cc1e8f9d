import type { Provider } from "../provider.ts";
import { github } from "./github.ts";
import { hmac } from "./hmac.ts";
import { standardWebhooks } from "./standard-webhooks.ts";
import { stripe } from "./stripe.ts";

const rows = [hmac, stripe, github, standardWebhooks] as const;

export const providers: ReadonlyMap<string, Provider> = new Map(rows.map((row) => [row.name, row]));

export type ProviderName = "hmac" | "stripe" | "github" | "standard-webhooks";
