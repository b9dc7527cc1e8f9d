import { createHash } from "node:crypto";
import { secretValue } from "./property-values.js";

/**
 * @typedef {object} Cloud
 * @property {string} region
 * @property {string} account
 * @typedef {(inputs: Record<string, any>, name: string, cloud: Cloud) => Record<string, any>} ComputeOutputs
 */

/**
 * What AWS would fill in, for the resources whose outputs the program reads. Everything else gets a name and an ARN.
 *
 * @type {Readonly<Record<string, ComputeOutputs>>}
 */
const computed = {
  "aws:ec2/vpc:Vpc": (_, name) => ({
    id: `vpc-${hash(name)}`,
    cidrBlock: "10.0.0.0/16",
    defaultSecurityGroupId: `sg-${hash(name)}`,
    mainRouteTableId: `rtb-${hash(name)}`,
  }),
  "aws:ec2/subnet:Subnet": (_, name) => ({ id: `subnet-${hash(name)}` }),
  "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": (_, name) => ({ id: `sg-${hash(name)}` }),
  "aws:ec2/internetGateway:InternetGateway": (_, name) => ({ id: `igw-${hash(name)}` }),
  "aws:ec2/routeTable:RouteTable": (_, name) => ({ id: `rtb-${hash(name)}` }),
  "aws:iam/role:Role": ({ name }, _, { account }) => ({
    id: name,
    arn: `arn:aws:iam::${account}:role/${name}`,
  }),
  "aws:lambda/function:Function": ({ name, publish = false }, _, { region, account }) => {
    const arn = `arn:aws:lambda:${region}:${account}:function:${name}`;
    return {
      id: name,
      arn,
      publish,
      version: "$LATEST",
      qualifiedArn: `${arn}:$LATEST`,
      lastModified: "2026-01-01T00:00:00.000+0000",
    };
  },
  "aws:lambda/functionUrl:FunctionUrl": ({ functionName }, name, { region }) => ({
    id: functionName,
    functionUrl: `https://${hash(name, 32)}.lambda-url.${region}.on.aws/`,
  }),
  "aws:ecs/cluster:Cluster": ({ name }, _, { region, account }) => {
    const arn = `arn:aws:ecs:${region}:${account}:cluster/${name}`;
    return { id: arn, arn };
  },
  "aws:ecs/service:Service": ({ name }, _, { region, account }) => {
    const arn = `arn:aws:ecs:${region}:${account}:service/${name}`;
    return { id: arn, arn };
  },
  "aws:ecs/taskDefinition:TaskDefinition": ({ family }, _, { region, account }) => ({
    id: family,
    arn: `arn:aws:ecs:${region}:${account}:task-definition/${family}:1`,
    revision: 1,
  }),
  "aws:elasticache/replicationGroup:ReplicationGroup": ({ replicationGroupId: id, clusterMode, port }) => ({
    id,
    port: port ?? 6379,
    clusterEnabled: clusterMode === "enabled",
    primaryEndpointAddress: `master.${id}.example.use1.cache.amazonaws.com`,
  }),
  "aws:ssm/parameter:Parameter": ({ name }, _, { region, account }) => ({
    id: name,
    arn: `arn:aws:ssm:${region}:${account}:parameter${name}`,
    version: 1,
  }),
  "aws:cloudwatch/logGroup:LogGroup": ({ name }, _, { region, account }) => ({
    id: name,
    arn: `arn:aws:logs:${region}:${account}:log-group:${name}`,
  }),
  "aws:sns/topic:Topic": ({ name }, _, { region, account }) => {
    const arn = `arn:aws:sns:${region}:${account}:${name}`;
    return { id: arn, arn };
  },
  "aws:s3/bucketObjectv2:BucketObjectv2": ({ key }) => ({ id: key }),
  "aws:servicediscovery/privateDnsNamespace:PrivateDnsNamespace": (_, name) => ({ id: `ns-${hash(name)}` }),
  "aws:cloudfront/distribution:Distribution": (_, name) => ({
    id: `E${hash(name, 13).toUpperCase()}`,
    domainName: `${hash(name, 13)}.cloudfront.net`,
    hostedZoneId: "Z2FDTNDATAQYW2",
  }),
  "aws:acm/certificate:Certificate": ({ domainName }) => ({
    domainValidationOptions: [
      {
        domainName,
        resourceRecordName: `_x.${domainName}.`,
        resourceRecordType: "CNAME",
        resourceRecordValue: "_y.acm-validations.aws.",
      },
    ],
  }),
  "aws:acm/certificateValidation:CertificateValidation": ({ certificateArn }) => ({ certificateArn }),
  // SST's own providers, which its command line serves.
  "pulumi-nodejs:dynamic:Resource": (_, name) =>
    name.endsWith("HostedZoneLookup") ? { zoneId: `Z${hash(name, 12).toUpperCase()}` } : {},
  "docker-build:index:Image": ({ tags }, name) => ({
    digest: `sha256:${hash(name, 64)}`,
    ref: `${tags?.[0]}@sha256:${hash(name, 64)}`,
  }),
  "random:index/randomBytes:RandomBytes": ({ length }, name) => {
    const bytes = createHash("sha512").update(name).digest().subarray(0, length);
    return { base64: bytes.toString("base64"), hex: bytes.toString("hex") };
  },
  // With special characters in it, as a real one may have.
  "random:index/randomPassword:RandomPassword": ({ length }, name) => ({
    result: secretValue(`&#${hash(name, length - 3)}>`),
  }),
};

/**
 * @param {string} type
 * @param {string} name
 * @param {Record<string, any>} inputs
 * @param {Cloud} cloud
 * @returns {{ id: string, outputs: Record<string, any> }} what is known once the resource is there
 */
export function createdResource(type, name, inputs, cloud) {
  const { id, ...outputs } = {
    id: `${name}-${hash(`${type} ${name}`, 7)}`,
    ...(type.startsWith("aws:") ? namedAndAddressed(type, inputs, name, cloud) : {}),
    ...computed[type]?.(inputs, name, cloud),
  };
  return { id: String(id), outputs };
}

/** @type {(type: string, ...rest: Parameters<ComputeOutputs>) => Record<string, any>} */
function namedAndAddressed(type, inputs, name, { region, account }) {
  const [, service = "", kind = ""] = type.split(/[:/]/);
  const called = inputs.name ?? `${name}-${hash(name, 7)}`;
  return {
    name: called,
    arn: `arn:aws:${service}:${region}:${account}:${kind}/${called}`,
    tagsAll: inputs.tags ?? {},
  };
}

/**
 * @param {string} text
 * @param {number} [length]
 */
function hash(text, length = 17) {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}
