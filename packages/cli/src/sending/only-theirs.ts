import type { Provider, Scheme } from "webhook-anvil/signatures";

/** How to have a provider send a test event itself. */
const OWN_TESTS: Readonly<Record<string, string>> = {
  discord: "save the endpoint's URL in the developer portal, and Discord sends a PING",
  sendgrid: "press Test Your Integration in its Event Webhook settings",
  paypal: "make a payment in its sandbox, with a webhook of the sandbox app",
  "aws-sns": "publish to the topic: aws sns publish --topic-arn ARN --message test",
  plaid: "call /sandbox/item/fire_webhook of its sandbox",
};

/** Whether nobody but the provider can sign, since its key is a private one; then what to do instead. */
export function onlyTheirs({ name, scheme }: Provider): string | undefined {
  const schemes = [scheme].flat() as readonly Scheme[];
  const theirs = schemes.every(
    (each) => /^(public-key|paypal|sns)$/.test(each.kind) || (each.kind === "jwt" && each.key !== "utf8"),
  );
  if (!theirs) return undefined;
  const own = OWN_TESTS[name] ?? "have it send a test event itself";
  return `only ${name} can sign its events: its key is a private one. Instead, ${own}; or see what a captured one does: anvil verify ${name} --request FILE`;
}
