export { type Listening, type ListenOptions, listen } from "./listen.ts";
