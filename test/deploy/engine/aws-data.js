/** @import { Cloud } from "./aws-resources.js" */

/**
 * What the program asks AWS for.
 *
 * @type {Readonly<Record<string, (args: any, cloud: Cloud) => Record<string, any>>>}
 */
const sources = {
  "aws:index/getRegion:getRegion": (_, { region }) => ({ id: region, region, name: region }),
  "aws:index/getPartition:getPartition": () => ({ id: "aws", partition: "aws", dnsSuffix: "amazonaws.com" }),
  "aws:index/getCallerIdentity:getCallerIdentity": (_, { account }) => ({ id: account, accountId: account }),
  "aws:index/getAvailabilityZones:getAvailabilityZones": (_, { region }) => ({
    id: region,
    names: ["a", "b", "c"].map((zone) => region + zone),
    zoneIds: ["zone1", "zone2", "zone3"],
    state: "available",
  }),
  "aws:ecr/getAuthorizationToken:getAuthorizationToken": (_, { region, account }) => ({
    id: region,
    password: "made-up",
    userName: "AWS",
    proxyEndpoint: `https://${account}.dkr.ecr.${region}.amazonaws.com`,
  }),
  "aws:iam/getPolicyDocument:getPolicyDocument": ({ statements = [] }) => {
    const json = JSON.stringify({ Version: "2012-10-17", Statement: statements.map(policyStatement) });
    // SST asks whether there are statements at all.
    return { id: "policy", json, minifiedJson: json, ...(statements.length > 0 ? { statements } : {}) };
  },
};

/**
 * @param {string} token
 * @param {any} args
 * @param {Cloud} cloud
 */
export function readData(token, args, cloud) {
  const source = sources[token];
  if (!source)
    throw new Error(`test/deploy/engine/aws-data.js doesn't know ${token} ${JSON.stringify(args)}`);
  return source(args, cloud);
}

/** @param {any} statement */
function policyStatement({ sid, effect = "Allow", actions, resources, principals = [], conditions = [] }) {
  /** @type {Record<string, Record<string, string[]>>} */
  const condition = {};
  for (const { test, variable, values } of conditions) {
    condition[test] = { ...condition[test], [variable]: values };
  }
  return {
    ...(sid ? { Sid: sid } : {}),
    Effect: effect,
    Action: actions,
    ...(resources ? { Resource: resources } : {}),
    ...(principals.length > 0
      ? {
          Principal: Object.fromEntries(
            principals.map((/** @type {any} */ one) => [one.type, one.identifiers]),
          ),
        }
      : {}),
    ...(conditions.length > 0 ? { Condition: condition } : {}),
  };
}
