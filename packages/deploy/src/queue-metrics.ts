import { METRICS_NAMESPACE, type MetricDimensions, type MetricName } from "./metrics.ts";

/** Which queue is watched. */
export type WatchedQueue = { readonly dimensions: MetricDimensions };

export function watchedQueue(config: { readonly queue?: string }): WatchedQueue {
  return { dimensions: { Stage: $app.stage, Queue: config.queue ?? "webhooks" } };
}

/** A metric of pulse, as an alarm takes it. */
export function queueMetric({ dimensions }: WatchedQueue, metricName: MetricName) {
  return { namespace: METRICS_NAMESPACE, metricName, dimensions: { ...dimensions } };
}
