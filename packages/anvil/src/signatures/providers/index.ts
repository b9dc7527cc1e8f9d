import type { Provider } from "../provider.ts";
import { adyen } from "./adyen.ts";
import { asana } from "./asana.ts";
import { auth0 } from "./auth0.ts";
import { awsSns } from "./aws-sns.ts";
import { bitbucket } from "./bitbucket.ts";
import { braintree } from "./braintree.ts";
import { buildkite } from "./buildkite.ts";
import { calendly } from "./calendly.ts";
import { chargebee } from "./chargebee.ts";
import { circleci } from "./circleci.ts";
import { clerk } from "./clerk.ts";
import { cloudinary } from "./cloudinary.ts";
import { coinbaseCommerce } from "./coinbase-commerce.ts";
import { contentful } from "./contentful.ts";
import { datadog } from "./datadog.ts";
import { discord } from "./discord.ts";
import { docusign } from "./docusign.ts";
import { dropbox } from "./dropbox.ts";
import { elevenlabs } from "./elevenlabs.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";
import { gocardless } from "./gocardless.ts";
import { hmac } from "./hmac.ts";
import { hubspot } from "./hubspot.ts";
import { intercom } from "./intercom.ts";
import { jira } from "./jira.ts";
import { lemonsqueezy } from "./lemonsqueezy.ts";
import { line } from "./line.ts";
import { linear } from "./linear.ts";
import { liveblocks } from "./liveblocks.ts";
import { livekit } from "./livekit.ts";
import { mailgun } from "./mailgun.ts";
import { mandrill } from "./mandrill.ts";
import { messagebird } from "./messagebird.ts";
import { meta } from "./meta.ts";
import { microsoftGraph } from "./microsoft-graph.ts";
import { mollie } from "./mollie.ts";
import { mux } from "./mux.ts";
import { okta } from "./okta.ts";
import { openai } from "./openai.ts";
import { paddle } from "./paddle.ts";
import { pagerduty } from "./pagerduty.ts";
import { paypal } from "./paypal.ts";
import { plaid } from "./plaid.ts";
import { polar } from "./polar.ts";
import { pusher } from "./pusher.ts";
import { razorpay } from "./razorpay.ts";
import { replicate } from "./replicate.ts";
import { resend } from "./resend.ts";
import { sanity } from "./sanity.ts";
import { segment } from "./segment.ts";
import { sendgrid } from "./sendgrid.ts";
import { sentry } from "./sentry.ts";
import { shopify } from "./shopify.ts";
import { slack } from "./slack.ts";
import { square } from "./square.ts";
import { standardWebhooks } from "./standard-webhooks.ts";
import { stripe } from "./stripe.ts";
import { svix } from "./svix.ts";
import { telegram } from "./telegram.ts";
import { trello } from "./trello.ts";
import { twilio } from "./twilio.ts";
import { twitch } from "./twitch.ts";
import { typeform } from "./typeform.ts";
import { vercel } from "./vercel.ts";
import { webflow } from "./webflow.ts";
import { websub } from "./websub.ts";
import { woocommerce } from "./woocommerce.ts";
import { workos } from "./workos.ts";
import { x } from "./x.ts";
import { zendesk } from "./zendesk.ts";
import { zoom } from "./zoom.ts";

const rows = [
  hmac,
  stripe,
  github,
  standardWebhooks,
  svix,
  clerk,
  resend,
  openai,
  replicate,
  liveblocks,
  polar,
  gitlab,
  slack,
  shopify,
  twilio,
  sendgrid,
  discord,
  paddle,
  square,
  linear,
  hubspot,
  plaid,
  paypal,
  adyen,
  razorpay,
  coinbaseCommerce,
  mollie,
  meta,
  twitch,
  x,
  dropbox,
  microsoftGraph,
  okta,
  auth0,
  datadog,
  telegram,
  chargebee,
  lemonsqueezy,
  pagerduty,
  sentry,
  vercel,
  cloudinary,
  mux,
  segment,
  trello,
  asana,
  jira,
  bitbucket,
  intercom,
  zendesk,
  zoom,
  typeform,
  calendly,
  docusign,
  woocommerce,
  line,
  gocardless,
  workos,
  sanity,
  contentful,
  braintree,
  messagebird,
  livekit,
  pusher,
  mailgun,
  mandrill,
  awsSns,
  circleci,
  buildkite,
  webflow,
  elevenlabs,
  websub,
] as const;

export const providers: ReadonlyMap<string, Provider> = new Map(rows.map((row) => [row.name, row]));

export type ProviderName =
  | "hmac"
  | "stripe"
  | "github"
  | "standard-webhooks"
  | "svix"
  | "clerk"
  | "resend"
  | "openai"
  | "replicate"
  | "liveblocks"
  | "polar"
  | "gitlab"
  | "slack"
  | "shopify"
  | "twilio"
  | "sendgrid"
  | "discord"
  | "paddle"
  | "square"
  | "linear"
  | "hubspot"
  | "plaid"
  | "paypal"
  | "adyen"
  | "razorpay"
  | "coinbase-commerce"
  | "mollie"
  | "meta"
  | "twitch"
  | "x"
  | "dropbox"
  | "microsoft-graph"
  | "okta"
  | "auth0"
  | "datadog"
  | "telegram"
  | "chargebee"
  | "lemonsqueezy"
  | "pagerduty"
  | "sentry"
  | "vercel"
  | "cloudinary"
  | "mux"
  | "segment"
  | "trello"
  | "asana"
  | "jira"
  | "bitbucket"
  | "intercom"
  | "zendesk"
  | "zoom"
  | "typeform"
  | "calendly"
  | "docusign"
  | "woocommerce"
  | "line"
  | "gocardless"
  | "workos"
  | "sanity"
  | "contentful"
  | "braintree"
  | "messagebird"
  | "livekit"
  | "pusher"
  | "mailgun"
  | "mandrill"
  | "aws-sns"
  | "circleci"
  | "buildkite"
  | "webflow"
  | "elevenlabs"
  | "websub";
