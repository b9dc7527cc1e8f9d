import type { Links } from "./built-function.ts";
import type { Graph } from "./graph.ts";

/** What is deployed, and tested. */
export interface Configuration {
  readonly stage: "jane" | "production";
  readonly redis: "elasticache" | "url" | "upstash";
}

export const configurations: readonly Configuration[] = (["jane", "production"] as const).flatMap((stage) =>
  (["elasticache", "url", "upstash"] as const).map((redis) => ({ stage, redis })),
);

/** A deployment under test: its resources are there once the hook that deploys it has run. */
export interface Deployed extends Configuration {
  readonly production: boolean;
  graph(): Graph;
  /** What is linked to a function, as its code will read it. */
  links(functionName: string): Links;
}
