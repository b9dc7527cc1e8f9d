import { type Provider, providers, type Scheme, verifyRequest } from "webhook-anvil/signatures";
import { bodyVariations } from "./body-variations.ts";
import { schemeVariations, secretVariations } from "./secret-variations.ts";
import { urlVariations } from "./url-variations.ts";
import type { Trial, Variation } from "./variation.ts";

type Hint = Pick<Variation, "change" | "cause">;

export type Search = {
  readonly hints: readonly Hint[];
  /** How many ways were tried. */
  readonly tried: number;
};

const MAX_TRIALS = 1_500;
/** Of bodies that are hashed, so that a large one isn't hashed for minutes. */
const MAX_BYTES = 128 * 1024 * 1024;
const MAX_HINTS = 5;

/**
 * What would have to be otherwise for a refused delivery to verify: each thing alone, and, when none is enough, two
 * together. A bounded number of ways is tried; nothing is fetched.
 * @param nowMs a time at which the delivery's own time is right, so that only the signature counts
 * @param options.capturedUrl what the request itself tells of its URL
 */
export async function whatWouldPass(
  trial: Trial,
  nowMs: number,
  { capturedUrl }: { readonly capturedUrl: string },
): Promise<Search> {
  const limit = Math.min(MAX_TRIALS, Math.floor(MAX_BYTES / Math.max(1, trial.request.body.length)));
  let tried = 0;
  const passes = async ({ provider, request, secrets }: Trial): Promise<boolean> => {
    if (tried >= limit) return false;
    tried += 1;
    try {
      return (await verifyRequest(provider, request, { secrets, now: nowMs })).ok;
    } catch {
      // Its key would have to be fetched.
      return false;
    }
  };

  const own = [
    ...bodyVariations(trial.request.body),
    ...secretVariations(trial.secrets, trial.provider),
    ...(needsUrl(trial.provider) ? urlVariations(trial.request.url, capturedUrl) : []),
    ...schemeVariations(trial.provider),
  ];
  const hints: Hint[] = [];
  for (const variation of own) {
    if (await passes(variation.apply(trial))) hints.push(variation);
  }
  const named = await otherProviders(trial, passes);
  if (named) hints.push(named);

  for (const [index, first] of own.entries()) {
    for (const second of own.slice(index + 1)) {
      if (hints.length > 0) break;
      if (first.kind === second.kind || second.kind === "scheme") continue;
      if (await passes(second.apply(first.apply(trial)))) {
        hints.push({
          change: `${first.change}, and ${second.change}`,
          cause: `${first.cause}. ${second.cause}`,
        });
      }
    }
  }
  return { hints: hints.slice(0, MAX_HINTS).map(({ change, cause }) => ({ change, cause })), tried };
}

/** Several providers share a scheme, so all that would do are named at once. */
async function otherProviders(
  trial: Trial,
  passes: (trial: Trial) => Promise<boolean>,
): Promise<Hint | undefined> {
  const names: string[] = [];
  for (const [name, provider] of providers) {
    if (name !== trial.provider.name && (await passes({ ...trial, provider }))) names.push(name);
  }
  if (names.length === 0) return undefined;
  return {
    change: `as a delivery of ${names.join(", ")}`,
    cause: `The secret and the signature are ${names.length > 1 ? "one of those providers'" : "that provider's"}: set it as the source's provider`,
  };
}

function needsUrl({ scheme }: Provider): boolean {
  return ([scheme].flat() as readonly Scheme[]).some(
    (each) =>
      each.kind === "twilio" ||
      each.kind === "contentful" ||
      (each.kind === "jwt" && each.urlHash !== undefined) ||
      (each.kind === "hmac" && [each.message].flat().some((message) => message.includes("url}"))),
  );
}
