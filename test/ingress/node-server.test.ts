import { honoServerHost, nodeHost } from "./hosts.ts";
import { ingressContract } from "./ingress.contract.ts";

ingressContract("on our Node server", nodeHost);
ingressContract("on @hono/node-server", honoServerHost);
