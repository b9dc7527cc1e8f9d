import { AnvilError } from "./errors.ts";

/** Starts the message of every unreadable job; `bury` tells the dead letter's reason by it. */
export const UNREADABLE_MESSAGE = "unreadable job: ";

/** @param why and what to do; never a part of what was read */
export function unreadable(why: string): AnvilError {
  return new AnvilError("unreadable_job", `${UNREADABLE_MESSAGE}${why}`);
}
