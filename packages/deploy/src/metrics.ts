/** What pulse publishes every minute, workers scale on and alarms watch. */
export const METRICS_NAMESPACE = "Anvil";

export const metrics = {
  oldestWaitingSeconds: "OldestWaitingSeconds",
  waiting: "Waiting",
  active: "Active",
  delayed: "Delayed",
  dead: "Dead",
  unburied: "Unburied",
} as const;

export type MetricName = (typeof metrics)[keyof typeof metrics];

/** Stages of one account share a namespace, and mostly a queue's name: one of them must not scale another's workers. */
export type MetricDimensions = { readonly Stage: string; readonly Queue: string };

/** Where pulse reads its stage. */
export const STAGE_VARIABLE = "ANVIL_STAGE";
