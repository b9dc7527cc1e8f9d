import { verify as verifySignature } from "node:crypto";
import { textAt } from "../json-path.ts";
import { lazyPayload } from "../payload-of.ts";
import { refuse } from "../verdict.ts";
import { certificateKey } from "./certificate.ts";
import type { SchemeEngine } from "./engine.ts";
import { decodeSignature } from "./signature-encoding.ts";
import { checkTimestamp } from "./timestamp.ts";

/** By the form of a region: `sns.s3.amazonaws.com` would be anybody's bucket. */
const HOSTS = /^sns\.[a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}\.amazonaws\.com(?:\.cn)?$/;
export const SNS_TIMESTAMP = { from: { body: "Timestamp" }, unit: "rfc3339", toleranceS: 3_600 } as const;

const CONFIRMATION = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
/** What is signed of each type of message, in this order. */
const SIGNED: ReadonlyMap<string, readonly string[]> = new Map([
  ["Notification", ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]],
  ["SubscriptionConfirmation", CONFIRMATION],
  ["UnsubscribeConfirmation", CONFIRMATION],
]);
const HASHES: ReadonlyMap<string, string> = new Map([
  ["1", "RSA-SHA1"],
  ["2", "RSA-SHA256"],
]);

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
    const names = SIGNED.get(text("Type") ?? "");
    const hash = HASHES.get(text("SignatureVersion") ?? "");
    if (!signature || !names || !hash) return refuse("malformed_signature");
    const late = checkTimestamp(SNS_TIMESTAMP, text("Timestamp") ?? "", moment.nowMs);
    if (late) return late;
    if (!keys.some((key) => covers(Buffer.from(key as Uint8Array).toString(), text("TopicArn") ?? ""))) {
      return refuse("other_topic");
    }
    const signed = signedText(names, text);
    if (signed === undefined) return refuse("missing_signed_part");
    const url = text("SigningCertURL") ?? "";
    const key = url.endsWith(".pem") ? await certificateKey(url, HOSTS, moment) : undefined;
    if (!key) return refuse("untrusted_certificate");
    return verifySignature(hash, Buffer.from(signed), key, signature)
      ? { ok: true, signature }
      : refuse("wrong_signature");
  },
};

/**
 * Names and values, each on a line. Only the subject may be missing, and only the message may have line breaks: else
 * one signature would fit two readings, in which the id is part of the message or another.
 */
function signedText(
  names: readonly string[],
  text: (name: string) => string | undefined,
): string | undefined {
  const lines: string[] = [];
  for (const name of names) {
    const value = text(name);
    if (value === undefined && name === "Subject") continue;
    if (value === undefined || (name !== "Message" && value.includes("\n"))) return undefined;
    lines.push(`${name}\n${value}\n`);
  }
  return lines.join("");
}

function covers(pattern: string, topic: string): boolean {
  return pattern.endsWith("*") ? topic.startsWith(pattern.slice(0, -1)) : topic === pattern;
}
