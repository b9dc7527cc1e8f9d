import { expect, it } from "vitest";
import { redisSecrets } from "../../packages/deploy/src/link-names.ts";
import type { Deployed } from "./configurations.ts";
import { containerOf, type Inputs, texts } from "./graph.ts";
import { madeUpSecrets } from "./made-up-secrets.ts";

/** Values that nothing supplied: an input that was never set, an object or an unresolved output where text belongs. */
const SUSPICIOUS = /\bundefined\b|\[object |Calling \[toString\]|\bNaN\b/;

/** What must not show, anywhere. */
export function secrecyContract({ redis, graph, links }: Deployed): void {
  /** As it is, or as a part of a URL. */
  const holdsSecret = (text: string): boolean =>
    [
      ...Object.values(madeUpSecrets),
      ...graph()
        .all("aws:elasticache/replicationGroup:ReplicationGroup")
        .map(({ inputs }) => inputs.authToken),
    ].some((value) => text.includes(value) || text.includes(encodeURIComponent(value)));

  it("has a secret for each variable that a source names, and for the Redis that it has", () => {
    expect(
      graph()
        .all("sst:sst:Secret")
        .map(({ name }) => name)
        .sort(),
    ).toEqual(
      [
        "WebhookSecret",
        "WebhookSecretPrevious",
        ...(redis === "elasticache" ? [] : [redisSecrets.REDIS_URL]),
        ...(redis === "upstash"
          ? [redisSecrets.UPSTASH_REDIS_REST_TOKEN, redisSecrets.UPSTASH_REDIS_REST_URL]
          : []),
      ].sort(),
    );
  });

  it("links the sources' secrets to the ingress alone, and to each function the Redis that it speaks to", () => {
    const overTcp = redis === "elasticache" ? ["Redis"] : ["RedisUrl"];
    const ofIngress = redis === "upstash" ? ["UpstashRedisRestToken", "UpstashRedisRestUrl"] : overTcp;
    expect(Object.keys(links("Ingress")).sort()).toEqual(
      [...ofIngress, "WebhookSecret", "WebhookSecretPrevious"].sort(),
    );
    expect(links("Ingress").WebhookSecret).toMatchObject({ value: madeUpSecrets.WebhookSecret });
    expect(Object.keys(links("Replay"))).toEqual(overTcp);
    expect(Object.keys(links("Pulse"))).toEqual(overTcp);
  });

  it("shows no secret in the environment of a function or a container, nor in the image", () => {
    const { environment, command, healthCheck } = containerOf(graph());
    const shown = {
      functions: graph()
        .all("aws:lambda/function:Function")
        .map(({ inputs }) => inputs.environment),
      container: [environment, command, healthCheck],
      image: graph()
        .all("docker-build:index:Image")
        .map(({ inputs }) => [inputs.buildArgs, inputs.secrets]),
    };
    expect([...texts(shown)].filter(([, text]) => holdsSecret(text))).toEqual([]);
  });

  it("marks every secret as one where the state keeps it", () => {
    const open = graph().resources.flatMap(({ type, name, inputs, secretInputs }) => {
      const marked = secretInputs.map((path) => `.${path.replace(/\[(\d+)\]/g, ".$1")}.`);
      return [...texts(inputs)]
        .filter(
          ([path, text]) => holdsSecret(text) && !marked.some((secret) => `${path}.`.startsWith(secret)),
        )
        .map(([path]) => `${type} ${name}${path}`);
    });
    expect(open).toEqual([]);
  });

  it("has no role that anybody but its service can take", () => {
    const trusted = graph()
      .all("aws:iam/role:Role")
      .flatMap(({ name, inputs }) =>
        (inputs.assumeRolePolicy.Statement as Inputs[]).map(({ Principal }) => [
          name,
          JSON.stringify(Principal),
        ]),
      );
    expect(trusted.length).toBe(6);
    for (const [name, principal] of trusted) {
      expect(principal, name).toMatch(/^\{"Service":"(lambda|ecs-tasks|scheduler)\.amazonaws\.com"\}$/);
    }
  });

  it("has no input that came out wrong", () => {
    const wrong = graph().resources.flatMap(({ type, name, inputs: { __provider, ...inputs } }) =>
      [...texts(inputs)]
        .filter(([, text]) => SUSPICIOUS.test(text))
        .map(([path, text]) => `${type} ${name}${path}: ${text}`),
    );
    expect(wrong).toEqual([]);
    expect([...texts(graph().outputs)].filter(([, text]) => SUSPICIOUS.test(text))).toEqual([]);
  });
}
