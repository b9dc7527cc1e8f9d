import { verify as verifySignature } from "node:crypto";
import { textAt } from "../json-path.ts";
import { lazyPayload } from "../payload-of.ts";
import { refuse } from "../verdict.ts";
import { certificateKey } from "./certificate.ts";
import type { SchemeEngine } from "./engine.ts";
import { decodeSignature } from "./signature-encoding.ts";
import { checkTimestamp } from "./timestamp.ts";

const HOSTS = /^sns\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?$/;
const TIMESTAMP = { from: { body: "Timestamp" }, unit: "rfc3339", toleranceS: 3_600 } as const;

/** What is signed of each type of message, in this order; what a message lacks is left out. */
const SIGNED: Readonly<Record<string, readonly string[]>> = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: [
    "Message",
    "MessageId",
    "SubscribeURL",
    "Timestamp",
    "Token",
    "TopicArn",
    "Type",
  ],
  UnsubscribeConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
};

/**
 * Amazon SNS signs most of a message with the key of a certificate that the message names. Anybody with an AWS account
 * can have SNS sign something, so the secret here is the ARN of the topic (which is none): others are refused. An
 * asterisk at its end stands for any rest.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 */
export const snsEngine: SchemeEngine<unknown> = {
  readKey: (_, secret) => (secret === "" ? undefined : Buffer.from(secret)),

  // All of it is in the body; the headers only repeat it.
  precheck: () => undefined,

  async verify(_, received, keys, moment) {
    // Its content type says text/plain.
    const payload = lazyPayload({ body: received.body, header: () => undefined })();
    const text = (name: string) => textAt(payload, name);
    const signatureText = text("Signature");
    if (signatureText === undefined) return refuse("missing_signature");
    const signature = decodeSignature(signatureText, "base64");
    const names = SIGNED[text("Type") ?? ""];
    const hash = { "1": "RSA-SHA1", "2": "RSA-SHA256" }[text("SignatureVersion") ?? ""];
    if (!signature || !names || !hash) return refuse("malformed_signature");
    const late = checkTimestamp(TIMESTAMP, text("Timestamp") ?? "", moment.nowMs);
    if (late) return late;
    if (!keys.some((key) => covers(Buffer.from(key as Uint8Array).toString(), text("TopicArn") ?? ""))) {
      return refuse("other_topic");
    }
    const url = text("SigningCertURL") ?? "";
    const key = url.endsWith(".pem") ? await certificateKey(url, HOSTS, moment) : undefined;
    if (!key) return refuse("untrusted_certificate");
    const signed = names.flatMap((name) => {
      const value = text(name);
      return value === undefined ? [] : [`${name}\n${value}\n`];
    });
    return verifySignature(hash, Buffer.from(signed.join("")), key, signature)
      ? { ok: true, signature }
      : refuse("wrong_signature");
  },
};

function covers(pattern: string, topic: string): boolean {
  return pattern.endsWith("*") ? topic.startsWith(pattern.slice(0, -1)) : topic === pattern;
}
