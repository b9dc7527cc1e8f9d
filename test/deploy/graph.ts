import type { RecordedResource } from "./engine/resource-monitor.js";
import type { Recorded } from "./offline-stage.ts";

/** A deployment's resources, to ask for by type and name. */
export interface Graph extends Recorded {
  /** @throws {Error} unless there is one */
  inputs(type: string, name: string): Inputs;
  /** By name, since they are registered in no certain order. */
  all(type: string): readonly RecordedResource[];
}

// biome-ignore lint/suspicious/noExplicitAny: as deep and as untyped as the JSON that it is
export type Inputs = Record<string, any>;

export function graphOf(recorded: Recorded): Graph {
  const byName = [...recorded.resources].sort((a, b) => (a.name < b.name ? -1 : 1));
  const all = (type: string) => byName.filter((resource) => resource.type === type);
  return {
    ...recorded,
    all,
    inputs(type, name) {
      const found = all(type).find((resource) => resource.name === name);
      if (found) return found.inputs;
      throw new Error(
        `No ${type} is called ${name}; there are: ${all(type)
          .map((one) => one.name)
          .join(", ")}`,
      );
    },
  };
}

/** Statements of a role's inline policies. */
export function statementsOf(role: Inputs): { Action: string[]; Resource: string[] }[] {
  return (role.inlinePolicies as { policy: string }[]).flatMap(({ policy }) => JSON.parse(policy).Statement);
}

/** The worker's only container. */
export function containerOf(graph: Graph): Inputs {
  const definitions = JSON.parse(
    graph.inputs("aws:ecs/taskDefinition:TaskDefinition", "WorkerTask").containerDefinitions,
  );
  if (definitions.length !== 1) throw new Error(`The task has ${definitions.length} containers`);
  return definitions[0];
}

/** Every text in a value, with the path to it. */
export function* texts(value: unknown, path = ""): Generator<readonly [path: string, text: string]> {
  if (typeof value === "string") yield [path, value];
  else if (typeof value === "object" && value !== null) {
    for (const [key, inner] of Object.entries(value)) yield* texts(inner, `${path}.${key}`);
  }
}
