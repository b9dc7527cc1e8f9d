export { createServer, type Server, type ServerOptions } from "./create-server.ts";
export { type HttpsKeysOptions, httpsKeys } from "./https-keys.ts";
