import type { Provider } from "../provider.ts";

/** Amazon SNS, without raw delivery. The secret is the topic's ARN. */
export const awsSns: Provider = {
  name: "aws-sns",
  scheme: { kind: "sns" },
  identity: [{ body: "MessageId" }],
  type: [{ body: "Type" }],
  handshake: "sns",
  keepHeaders: ["x-amz-sns-message-type", "x-amz-sns-topic-arn"],
  secretProblem: (secret) =>
    /^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]+(?:\.fifo)?$/.test(secret)
      ? undefined
      : "is no ARN of a topic, as in arn:aws:sns:eu-west-1:123456789012:orders",
  docs: "https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html",
};
