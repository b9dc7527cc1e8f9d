import type { Handshake } from "./handshake.ts";
import {
  asanaHandshake,
  braintreeHandshake,
  discordHandshake,
  dropboxHandshake,
  headHandshake,
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

/** By the name that a provider's row gives; `head` is for all that only ask whether anybody is there. */
const handshakes = {
  asana: asanaHandshake,
  braintree: braintreeHandshake,
  discord: discordHandshake,
  dropbox: dropboxHandshake,
  head: headHandshake,
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
} as const;

export type HandshakeName = keyof typeof handshakes;

export const handshakeNames = Object.keys(handshakes) as readonly HandshakeName[];

export function handshakeOf({ handshake }: { readonly handshake?: HandshakeName }): Handshake | undefined {
  return handshake === undefined ? undefined : handshakes[handshake];
}
