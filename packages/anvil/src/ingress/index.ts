export { createServer, type Server, type ServerOptions } from "./create-server.ts";
