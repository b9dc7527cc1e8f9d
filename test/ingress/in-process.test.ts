import { createServer } from "webhook-anvil/ingress";
import { ingressContract } from "./ingress.contract.ts";

ingressContract("in process", async (options) => {
  const app = createServer(options);
  return {
    async send({ method = "POST", path = "/", headers = {}, body }) {
      const answer = await app.request(path.startsWith("//") ? `http://localhost${path}` : path, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    },
    close: () => app.close(),
  };
});
