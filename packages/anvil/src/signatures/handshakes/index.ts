import type { Handshake } from "./handshake.ts";
import {
  asanaHandshake,
  braintreeHandshake,
  discordHandshake,
  dropboxHandshake,
  headHandshake,
  lineHandshake,
  mandrillHandshake,
  metaHandshake,
  microsoftGraphHandshake,
  oktaHandshake,
  slackHandshake,
  snsHandshake,
  twitchHandshake,
  websubHandshake,
  woocommerceHandshake,
  xHandshake,
  zoomHandshake,
} from "./providers.ts";

export type HandshakeName =
  | "asana"
  | "braintree"
  | "discord"
  | "dropbox"
  | "head"
  | "line"
  | "mandrill"
  | "meta"
  | "microsoft-graph"
  | "okta"
  | "slack"
  | "sns"
  | "twitch"
  | "websub"
  | "woocommerce"
  | "x"
  | "zoom";

/** By the name that a provider's row gives; `head` is for all that only ask whether anybody is there. */
const handshakes: Readonly<Record<HandshakeName, Handshake>> = {
  asana: asanaHandshake,
  braintree: braintreeHandshake,
  discord: discordHandshake,
  dropbox: dropboxHandshake,
  head: headHandshake,
  line: lineHandshake,
  mandrill: mandrillHandshake,
  meta: metaHandshake,
  "microsoft-graph": microsoftGraphHandshake,
  okta: oktaHandshake,
  slack: slackHandshake,
  sns: snsHandshake,
  twitch: twitchHandshake,
  websub: websubHandshake,
  woocommerce: woocommerceHandshake,
  x: xHandshake,
  zoom: zoomHandshake,
};

export const handshakeNames: readonly HandshakeName[] = Object.keys(handshakes) as HandshakeName[];

export function handshakeOf({ handshake }: { readonly handshake?: HandshakeName }): Handshake | undefined {
  return handshake === undefined ? undefined : handshakes[handshake];
}
