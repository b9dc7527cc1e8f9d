import { readData } from "./aws-data.js";
import { createdResource } from "./aws-resources.js";
import { plainValue, secretValue } from "./property-values.js";

/**
 * A resource as the program registered it: every input resolved.
 *
 * @typedef {object} RecordedResource
 * @property {string} urn
 * @property {string} type
 * @property {string} name
 * @property {boolean} custom false: a component, which only groups others
 * @property {string} id
 * @property {string} [parent]
 * @property {Record<string, any>} inputs
 * @property {string[]} secretInputs the paths of inputs that are marked secret
 * @property {Record<string, any>} outputs
 * @property {Record<string, any>} options
 */

const unsupported = ["outputValues", "transforms", "invokeTransforms", "resourceHooks"];

/**
 * The far side of the Pulumi SDK's remote calls: it records instead of creating. It is strict where the real engine
 * is (a name may be used once) and follows it where programs rely on it (ignoreChanges keeps what was there).
 *
 * @param {object} options
 * @param {(module: string) => any} options.sdk requires a module of the Pulumi SDK that the program itself uses
 * @param {string} options.project
 * @param {string} options.stack
 * @param {import("./aws-resources.js").Cloud} options.cloud
 * @param {ReadonlyMap<string, { inputs?: Record<string, any> }>} options.previous the last deployment, by URN
 * @param {(error: unknown) => void} options.onError
 */
export function createResourceMonitor({ sdk, project, stack, cloud, previous, onError }) {
  const { Struct } = sdk("google-protobuf/google/protobuf/struct_pb");
  const responses = {
    ...sdk("@pulumi/pulumi/proto/resource_pb"),
    ...sdk("@pulumi/pulumi/proto/provider_pb"),
  };
  /** @type {Map<string, RecordedResource>} */
  const resources = new Map();
  let lastCallAt = Date.now();

  /** @param {any} request */
  function register(request) {
    const type = request.getType();
    const name = request.getName();
    const urn = urnOf(request.getParent(), type, name);
    if (resources.has(urn)) throw new Error(`Two resources have the URN ${urn}`);
    const given = request.getObject()?.toJavaScript() ?? {};
    for (const key of request.getIgnorechangesList()) {
      const before = previous.get(urn)?.inputs;
      if (before && key in before) given[key] = before[key];
    }
    /** @type {string[]} */
    const secretInputs = [];
    const inputs = plainValue(given, secretInputs);
    const custom = request.getCustom();
    const made = custom ? createdResource(type, name, inputs, cloud) : { id: "", outputs: {} };
    const outputs = { ...given, ...made.outputs };
    for (const key of request.getAdditionalsecretoutputsList()) {
      if (outputs[key] !== undefined) outputs[key] = secretValue(outputs[key]);
    }
    resources.set(urn, {
      urn,
      type,
      name,
      custom,
      id: made.id,
      ...(request.getParent() ? { parent: request.getParent() } : {}),
      inputs,
      secretInputs,
      outputs: plainValue(outputs),
      options: {
        ...(request.getProtect() ? { protect: true } : {}),
        ...(request.getRetainondelete() ? { retainOnDelete: true } : {}),
        ...(request.getIgnorechangesList().length > 0
          ? { ignoreChanges: request.getIgnorechangesList() }
          : {}),
        ...(request.getDependenciesList().length > 0
          ? { dependsOn: request.getDependenciesList().sort() }
          : {}),
        ...(request.getProvider() ? { provider: request.getProvider() } : {}),
      },
    });
    return { urn, id: made.id, outputs };
  }

  /** @type {(parent: string, type: string, name: string) => string} */
  function urnOf(parent, type, name) {
    const parentType = parent.split("::")[2];
    const path = parentType && parentType !== "pulumi:pulumi:Stack" ? `${parentType}$${type}` : type;
    return `urn:pulumi:${stack}::${project}::${path}::${name}`;
  }

  /** @type {(answer: (request: any) => any) => (request: any, callback: (error: unknown, response?: any) => void) => void} */
  const serve = (answer) => (request, callback) => {
    lastCallAt = Date.now();
    try {
      callback(null, answer(request));
    } catch (error) {
      onError(error);
      callback(error);
    }
  };

  return {
    resources: () => [...resources.values()],
    /** How long the program has asked for nothing, in milliseconds. */
    idleMs: () => Date.now() - lastCallAt,
    /** To be given to the SDK in place of its client. */
    client: {
      supportsFeature: serve((request) => ({ getHassupport: () => !unsupported.includes(request.getId()) })),
      registerPackage: serve(() => {
        const response = new responses.RegisterPackageResponse();
        response.setRef("package");
        return response;
      }),
      registerResource: serve((request) => {
        const { urn, id, outputs } = register(request);
        const response = new responses.RegisterResourceResponse();
        response.setUrn(urn);
        response.setId(id);
        response.setObject(Struct.fromJavaScript(outputs));
        return response;
      }),
      registerResourceOutputs: serve((request) => {
        const resource = resources.get(request.getUrn());
        if (resource) {
          resource.outputs = {
            ...resource.outputs,
            ...plainValue(request.getOutputs()?.toJavaScript() ?? {}),
          };
        }
        return {};
      }),
      invoke: serve((request) => {
        const response = new responses.InvokeResponse();
        const args = plainValue(request.getArgs()?.toJavaScript() ?? {});
        response.setReturn(Struct.fromJavaScript(readData(request.getTok(), args, cloud)));
        return response;
      }),
      close() {},
    },
  };
}
