import { type Field, fieldLists, type Provider, type Scheme, type Timestamp } from "webhook-anvil/signatures";
import { isNeverRepeated } from "../../packages/anvil/src/signatures/fields.ts";
import type { HandshakeName } from "../../packages/anvil/src/signatures/handshakes/index.ts";
import { timestampOf } from "../../packages/anvil/src/signatures/schemes/description.ts";
import { templatesOf } from "../../packages/anvil/src/signatures/schemes/hmac.ts";
import { schemesOf } from "../../packages/anvil/src/signatures/schemes/index.ts";
import { signsUrl } from "../../packages/anvil/src/signatures/schemes/traits.ts";

const INTRODUCTION = `# Providers

Written from the rows by \`npm run docs:providers\`; don't edit it by hand. One that isn't here: [add a provider](add-a-provider.md).

- **Signed by** says where the signature stands, how it is made, and over what where that isn't just the body. A *token* is no signature: it comes along with each delivery, and proves nothing of the body.
- **Window** is how far the signed time may be from ours, in seconds, in both directions. Where it says *none*, a captured delivery can be sent again at any time, and only its identity tells.
- **Identity** tells an event that is delivered again from a new one, for the source's \`dedupeMs\`. What has ° isn't signed: whoever captured a delivery can send it again under another one. If that matters more to you than equal bodies that are two events, set \`identity: "body"\` on the source. Where a field is missing, the next *or* counts, at last signature and body.
- **Type** is what [handlers](write-a-handler.md) are chosen by. Of a list it is the first event's. A long path is cut to its end, as in \`…pspReference\`; the row has all of it.
- **Settings**: \`url\` must be set, the public URL that the provider was told; \`split: true\` can be, for a job for each event of the list. What it says after *answers* is the provider's way to make sure that an endpoint is wanted, answered by itself; some need a setting.

`;

const COLUMNS = ["Provider", "Signed by", "Window", "Identity", "Type", "Settings", "Secret"];

/** The page of all providers, by name. */
export function providersPage(providers: readonly Provider[]): string {
  const rows = [...providers]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((provider) => [
      `[\`${provider.name}\`](${provider.docs})`,
      lines(schemesOf(provider).map(signedBy)),
      lines(schemesOf(provider).map(windowOf)),
      identityOf(provider),
      alternatives(fieldLists(provider.type), ".", (field) => code(field)) || "–",
      settingsOf(provider),
      SECRETS[provider.name] ?? secretOf(provider),
    ]);
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  const table = line(COLUMNS) + line(COLUMNS.map(() => "---")) + rows.map(line).join("");
  return `${INTRODUCTION}${providers.length - 1} providers, and \`hmac\` for senders of your own.\n\n${table}`;
}

/** What its settings call the secret, where that isn't plain. */
const SECRETS: Readonly<Record<string, string>> = {
  adyen: "HMAC key, hex",
  "aws-sns": "the topic's ARN",
  asana: "the `x-hook-secret` of its handshake",
  auth0: "the whole `authorization` value",
  braintree: "`public key\\|private key`",
  buildkite: "the webhook's token",
  chargebee: "`user:password`",
  contentful: "signing secret, 64 characters",
  datadog: "the value of that header",
  discord: "the application's public key, hex",
  docusign: "Connect key",
  dropbox: "app secret",
  gitlab: "signing token `whsec_…`, or secret token",
  hubspot: "client secret",
  intercom: "client secret",
  line: "channel secret",
  livekit: "API secret",
  meta: "app secret",
  "microsoft-graph": "the subscription's `clientState`",
  okta: "the whole `authorization` value",
  paypal: "webhook id",
  plaid: "`client_id:secret`, or a JWK",
  pusher: "the key's secret",
  sendgrid: "verification key, base64",
  shopify: "client secret",
  slack: "signing secret",
  stripe: "the endpoint's `whsec_…`",
  telegram: "`secret_token` of setWebhook",
  trello: "app secret",
  twilio: "auth token",
  websub: "the subscription's `hub.secret`",
  x: "consumer secret",
};

function secretOf(provider: Provider): string {
  const forms = schemesOf(provider).flatMap((scheme) => {
    if (scheme.kind === "hmac")
      return scheme.secret.startsWith("whsec") ? ["`whsec_…`"] : ["the webhook's secret"];
    return scheme.kind === "public-key" && scheme.key === "whpk"
      ? ["public key `whpk_…`"]
      : ["the webhook's secret"];
  });
  return [...new Set(forms)].join(", or ");
}

const HANDSHAKES: Readonly<Record<HandshakeName, string>> = {
  asana: "its handshake and heartbeats",
  braintree: "GET",
  discord: "PING",
  dropbox: "GET",
  head: "HEAD",
  line: "empty lists",
  mandrill: "HEAD and empty lists",
  meta: "GET, with `verifyToken`",
  "microsoft-graph": "validation tokens",
  okta: "GET",
  slack: "challenges",
  sns: "confirmations",
  twitch: "challenges",
  websub: "GET, with `topics`",
  woocommerce: "pings",
  x: "GET",
  zoom: "URL validation",
};

function signedBy(scheme: Scheme): string {
  switch (scheme.kind) {
    case "hmac": {
      const { signature, hash, construction } = scheme;
      const hashes = [hash].flat().map((each) => `${construction === "plain" ? "" : "HMAC-"}${HASHES[each]}`);
      const place = "field" in signature ? `\`${signature.field}\` in the body` : headerName(signature);
      return `${place}: ${hashes.join(" or ")}, ${signature.encoding}${over(templatesOf(scheme))}`;
    }
    case "public-key": {
      const algorithm = scheme.algorithm === "ed25519" ? "Ed25519" : "ECDSA P-256";
      return `${headerName(scheme.signature)}: ${algorithm}, ${scheme.signature.encoding}${over([scheme.message])}`;
    }
    case "token":
      return "header" in scheme.from
        ? `\`${scheme.from.header}\`: ${scheme.form === "basic" ? "HTTP Basic" : "a token"}`
        : `\`${scheme.from.body}\` in the body: a token`;
    case "jwt":
      return `\`${scheme.header}\`: JWT, ${scheme.algorithms.join(", ")}`;
    default:
      return OWN[scheme.kind];
  }
}

const HASHES = { sha256: "SHA256", sha1: "SHA1", sha512: "SHA512" } as const;

const OWN: Readonly<Record<Exclude<Scheme["kind"], "hmac" | "public-key" | "token" | "jwt">, string>> = {
  twilio: "`x-twilio-signature`: HMAC-SHA1, base64, over URL and form",
  adyen: "`hmacSignature` of each item: HMAC-SHA256, base64, over eight fields",
  contentful: "`x-contentful-signature`: HMAC-SHA256, hex, over method, path, headers and body",
  braintree: "`bt_signature` in the form: HMAC-SHA1, hex, over `bt_payload`",
  paypal: "`paypal-transmission-sig`: RSA with a certificate, over the body's CRC-32",
  sns: "`Signature` in the body: RSA with a certificate",
};

function headerName({ header, numbered }: { readonly header: string; readonly numbered?: true }): string {
  return numbered ? `\`${header}-1\`, \`-2\`, …` : `\`${header}\``;
}

function over([template = "{body}"]: readonly string[]): string {
  return template === "{body}"
    ? ""
    : `, over \`${template.replaceAll(/\{(?:header|field):([^}]+)\}/g, "{$1}")}\``;
}

function windowOf(scheme: Scheme): string {
  if (scheme.kind === "jwt") return scheme.time === "iat" ? `±${scheme.toleranceS}` : "the token's";
  const timestamp: Timestamp | undefined = timestampOf(scheme);
  return timestamp && timestamp.toleranceS !== "none" ? `±${timestamp.toleranceS}` : "none";
}

function identityOf(provider: Provider): string {
  const lists = fieldLists(provider.identity);
  const named = alternatives(
    lists,
    " + ",
    (field) => `${code(field)}${isSigned(provider, field) ? "" : "°"}`,
  );
  const token = schemesOf(provider).every(({ kind }) => kind === "token");
  const rest = isNeverRepeated(provider)
    ? "none: each delivery is new"
    : token
      ? "body°"
      : "signature + body";
  if (lists.length === 0) return rest;
  return isNeverRepeated(provider) ? `${named}, or ${rest}` : named;
}

/** By the scheme that counts first. */
function isSigned(provider: Provider, field: Field): boolean {
  const [scheme] = schemesOf(provider);
  if (!scheme || scheme.kind === "token") return false;
  const templates =
    scheme.kind === "hmac" || scheme.kind === "public-key" ? [scheme.message].flat() : undefined;
  if ("header" in field)
    return templates?.every((each) => each.includes(`{header:${field.header}}`)) ?? false;
  return templates?.every((each) => /\{body\}|\{form\}/.test(each)) ?? true;
}

function settingsOf(provider: Provider): string {
  const settings = [
    schemesOf(provider).some(signsUrl) ? "`url`" : "",
    provider.batch ? "`split`" : "",
    provider.handshake ? `answers ${HANDSHAKES[provider.handshake]}` : "",
  ];
  return settings.filter((each) => each !== "").join(", ");
}

function alternatives(
  lists: readonly (readonly Field[])[],
  between: string,
  word: (field: Field) => string,
): string {
  return [...new Set(lists.map((fields) => fields.map(word).join(between)))].join(", or ");
}

function code(field: Field): string {
  if ("header" in field) return `\`${field.header}\``;
  if ("form" in field) return `\`${field.form}\``;
  return "body" in field ? `\`${short(field.body)}\`` : "the name of its content";
}

/** A cell that can be read: of a long path, its end. */
function short(path: string): string {
  const end = path.split(/(?<!\\)\./).at(-1) as string;
  return (path.length > 24 ? `…${end}` : path).replaceAll("\\", "");
}

function lines(cells: readonly string[]): string {
  return [...new Set(cells)].join("<br>");
}
