import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import type { ReplayedBy } from "webhook-anvil";
import type { Replayed } from "webhook-anvil/replay";
import type { Environment } from "../context.ts";
import { Failure } from "../failure.ts";

/**
 * Has the deployed replay function replay a dead letter: for a Redis that only its VPC reaches. Region and
 * credentials come from where the AWS tools take them (AWS_REGION, AWS_PROFILE, …).
 * @param name the function's name or ARN, as `sst deploy` prints it
 * @throws {Failure} when it can't be invoked, or fails
 */
export async function replayByFunction(
  name: string,
  jobId: string,
  asked: ReplayedBy,
  env: Environment,
): Promise<Replayed> {
  // The SDK's note on the end of its support for Node 20: nothing that a person who replays a letter can act on.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  const region = env.AWS_REGION ?? env.AWS_DEFAULT_REGION;
  const client = new LambdaClient({ ...(region === undefined ? {} : { region }), maxAttempts: 2 });
  try {
    const answer = await client.send(
      new InvokeCommand({ FunctionName: name, Payload: JSON.stringify({ jobId, ...asked }) }),
    );
    const result: unknown = JSON.parse(answer.Payload?.transformToString() || "null");
    if (answer.FunctionError) {
      const { errorMessage } = (result ?? {}) as { errorMessage?: unknown };
      throw new Failure(`${name} failed: ${String(errorMessage ?? answer.FunctionError)}; its log says more`);
    }
    if (!isReplayed(result)) {
      throw new Failure(`${name} answered something else than a replay function does; is it the right one?`);
    }
    return result;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`${name} could not be invoked: ${(error as Error).message}; ${advice(error as Error)}`);
  } finally {
    client.destroy();
  }
}

function isReplayed(result: unknown): result is Replayed {
  return typeof result === "object" && result !== null && "replayed" in result && "jobId" in result;
}

function advice({ name, message }: Error): string {
  if (name === "ResourceNotFoundException")
    return "check the name and the region; sst deploy prints the name";
  if (name === "AccessDeniedException") return "the caller needs lambda:InvokeFunction on it";
  if (/region is missing/i.test(message)) return "set AWS_REGION";
  if (/credential/i.test(name) || /credential|token/i.test(message)) return "set AWS_PROFILE, or sign in";
  return "check the network and the region";
}
