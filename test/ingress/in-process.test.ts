import { inProcessHost } from "./hosts.ts";
import { ingressContract } from "./ingress.contract.ts";

ingressContract("in process", inProcessHost);
