// Loaded before aws-lambda-ric, whose native addon is a curl that speaks to the runtime API. It is built when it is
// installed, and takes minutes. These are the four calls that it has, by Node's own http.

import http from "node:http";
import Module from "node:module";

const [host, port] = (process.env.AWS_LAMBDA_RUNTIME_API ?? "").split(":");
const agent = new http.Agent({ keepAlive: true });
const base = "/2018-06-01/runtime/invocation/";

const client = {
  initializeClient() {},

  /** @returns {Promise<{ bodyJson: string, headers: http.IncomingHttpHeaders }>} */
  next: () =>
    new Promise((resolve, reject) => {
      const request = http.get({ host, port, agent, path: `${base}next` }, (response) => {
        let bodyJson = "";
        response.setEncoding("utf8");
        response.on("data", (text) => {
          bodyJson += text;
        });
        response.on("end", () => resolve({ bodyJson, headers: response.headers }));
      });
      request.on("error", reject);
    }),

  /** @param {string} id @param {string} body */
  done: (id, body) => post(`${id}/response`, body),

  /** @param {string} id @param {string} body @param {string} [cause] for X-Ray */
  error(id, body, cause) {
    // curl sends the bytes as they are; Node's http takes a character for each byte.
    const bytes = Buffer.from(cause ?? "").toString("latin1");
    post(`${id}/error`, body, cause ? { "lambda-runtime-function-xray-error-cause": bytes } : {});
  },
};

/** @param {string} path @param {string} body @param {http.OutgoingHttpHeaders} [headers] */
function post(path, body, headers = {}) {
  const length = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const options = {
    host,
    port,
    agent,
    method: "POST",
    path: base + path,
    headers: { ...length, ...headers },
  };
  http
    .request(options, (response) => response.resume())
    .on("error", () => {})
    .end(body);
}

const ADDON = "/rapid-client.node";
const loader = /** @type {any} */ (Module);
const resolveFilename = loader._resolveFilename;
const loadAddon = loader._extensions[".node"];

/** @param {string} request @param {unknown[]} rest */
loader._resolveFilename = function (request, ...rest) {
  return request.endsWith("rapid-client.node") ? ADDON : resolveFilename.call(this, request, ...rest);
};
/** @param {{ exports: unknown }} module @param {string} path */
loader._extensions[".node"] = (module, path) => {
  if (path === ADDON) module.exports = client;
  else loadAddon(module, path);
};
