export { type Replayed, type ReplayOptions, replayDeadLetter } from "./replay-dead-letter.ts";
