import type { ListenOptions } from "webhook-anvil/node";
import { Failure } from "../failure.ts";

/** What a person is told when the port can't be had. */
export function listenFailure(error: NodeJS.ErrnoException, { host, port }: ListenOptions): Error {
  if (error.code === "EADDRINUSE") {
    return new Failure(
      `port ${port} of ${host} is taken; set PORT to another one, or to 0 for any that is free`,
    );
  }
  if (error.code === "EACCES")
    return new Failure(`port ${port} needs more rights; set PORT to one above 1023`);
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND") {
    return new Failure(`HOST is "${host}", which is no address of this machine; 0.0.0.0 takes all of them`);
  }
  return error;
}
