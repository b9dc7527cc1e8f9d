import type { Provider, RefusalReason } from "webhook-anvil/signatures";

/** A reason in plain words. */
export type Reason = {
  readonly why: string;
  /** The likely ones first. */
  readonly causes: readonly string[];
  readonly next: string;
};

/** What a refusal means to the person who has to end it. */
export function reasonOf(reason: RefusalReason, provider: Provider): Reason {
  const { name, docs } = provider;
  const page = `Compare with ${docs}`;
  switch (reason) {
    case "missing_signature":
      return {
        why: `There is no signature of ${name} in it.`,
        causes: [
          "no secret is set at the provider, so it doesn't sign",
          "a proxy, a firewall or the program that captured it has left the header out",
          `it is from somebody else, or of a kind that ${name} doesn't sign`,
          ...(provider.handshake
            ? [`it is a handshake of ${name}: some come unsigned, and the ingress answers those apart`]
            : []),
        ],
        next: `Set the secret at ${name}, then look whether the header arrives at the ingress itself`,
      };
    case "malformed_signature":
      return {
        why: `There is a signature, but it isn't written as ${name} writes it.`,
        causes: [
          "the header was cut, wrapped or joined with another one on its way",
          "it is from another provider, or another of the provider's schemes (an older header has another hash)",
          "it was written by hand or by a test that encodes it in another way",
        ],
        next: page,
      };
    case "missing_timestamp":
    case "malformed_timestamp":
      return {
        why:
          reason === "missing_timestamp"
            ? "The time that is signed isn't in it."
            : "The time that is signed can't be read as the provider writes it.",
        causes: [
          "a proxy or the capture has left the header out, or there are two of them",
          "seconds and milliseconds were mixed up by a sender of your own",
        ],
        next: page,
      };
    case "timestamp_too_old":
      return {
        why: "It was signed longer ago than the provider's window allows, so it could be a replay.",
        causes: [
          "this capture is simply old: judge it as of when it came, with --now",
          "it waited on its way: in a queue, a proxy that retries, a debugger",
          "the clock of the machine that verified it is ahead: check it against NTP",
        ],
        next: "The provider signs anew when it sends again: have it redeliver, and correct the clock if that is refused too",
      };
    case "timestamp_in_future":
      return {
        why: "It says that it was signed later than now, by more than the window.",
        causes: [
          "the clock of the machine that verified it is behind: check it against NTP",
          "--now is wrong, or seconds and milliseconds were mixed up by a sender of your own",
        ],
        next: "Correct the clock; containers and virtual machines that were paused are often behind",
      };
    case "missing_signed_header":
    case "malformed_signed_header":
      return {
        why:
          reason === "missing_signed_header"
            ? "A header that is signed along is missing."
            : "A header that is signed along isn't in a form that could have been signed.",
        causes: ["a proxy or the capture has left it out, changed it, or joined two of them"],
        next: "Let the headers above through as they are",
      };
    case "missing_signed_part":
      return {
        why: `${name} signs something that isn't known here.`,
        causes: [
          "the public URL isn't configured: set the source's url, or give --url here",
          "a field of the body that is signed isn't there, or is of another kind",
        ],
        next: "Give the URL exactly as it was entered at the provider, path and query included",
      };
    case "no_key":
      return {
        why: `No secret is in the form that ${name} uses.`,
        causes: [
          "it is another of the provider's secrets: an API key, a token, another endpoint's",
          "its prefix was cut off, or it was decoded or encoded before it was set",
        ],
        next: `Copy the signing secret of this endpoint from ${name}'s settings as it stands`,
      };
    case "untrusted_certificate":
      return {
        why: "The certificate that it names isn't the provider's, or isn't valid at that time.",
        causes: [
          "it is forged",
          "the capture is older than the certificate: judge it as of when it came, with --now",
        ],
        next: page,
      };
    case "other_topic":
      return {
        why: "SNS signed it, for a topic that isn't the source's.",
        causes: ["another topic is subscribed to this URL", "the ARN of the source's secret is wrong"],
        next: "Set the ARN of the topic as the source's secret",
      };
    case "wrong_signature":
      return provider.scheme && isToken(provider)
        ? {
            why: "The secret that came along isn't the source's.",
            causes: [
              "another secret is set at the provider: of another environment, or from before a rotation",
              "it is forged",
            ],
            next: "Set the same secret on both sides; keep the old one as previousSecret while you rotate",
          }
        : {
            why: "The signature is whole and readable, and isn't the one of this body under this secret.",
            causes: [
              "another secret: test for live, another endpoint's, or from before a rotation",
              "the body was changed on its way: parsed and printed again, trimmed, converted, decompressed",
              "the capture isn't byte for byte what came: an editor, a log or a copy from a screen",
              "it is forged",
            ],
            next: "Compare the last characters of the secret with the provider's settings, then capture the raw bytes in front of every parser",
          };
  }
}

function isToken({ scheme }: Provider): boolean {
  return [scheme].flat().every((each) => (each as { kind: string }).kind === "token");
}
