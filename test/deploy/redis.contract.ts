import { expect, it } from "vitest";
import type { Deployed } from "./configurations.ts";

/** Redis, and who reaches it. */
export function redisContract({ production, redis, graph }: Deployed): void {
  const securityGroup = () =>
    graph().inputs("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", "VpcSecurityGroup");

  if (redis !== "elasticache") {
    it("creates no Redis, and opens no port in its network", () => {
      expect(graph().resources.filter(({ type }) => type.startsWith("aws:elasticache"))).toEqual([]);
      expect(securityGroup().ingress).toEqual([]);
    });
    return;
  }
  const cluster = () => graph().inputs("aws:elasticache/replicationGroup:ReplicationGroup", "RedisCluster");

  it("is one Valkey keyspace, with TLS, a token, and encryption at rest", () => {
    expect(cluster()).toMatchObject({
      engine: "valkey",
      engineVersion: "8.0",
      clusterMode: "disabled",
      transitEncryptionEnabled: true,
      transitEncryptionMode: "required",
      atRestEncryptionEnabled: true,
      authToken: expect.stringMatching(/^.{32}$/),
    });
  });

  it("never evicts", () => {
    const group = graph().inputs("aws:elasticache/parameterGroup:ParameterGroup", "RedisParameterGroup");
    expect(group.parameters).toContainEqual({ name: "maxmemory-policy", value: "noeviction" });
    expect(group.family).toBe("valkey8");
    expect(cluster().parameterGroupName).toBe(group.name);
  });

  it(
    production
      ? "has a replica in another zone that takes over, and a week of snapshots"
      : "is one small node",
    () => {
      expect(cluster()).toMatchObject(
        production
          ? {
              nodeType: "cache.t4g.small",
              numCacheClusters: 2,
              automaticFailoverEnabled: true,
              multiAzEnabled: true,
              snapshotRetentionLimit: 7,
            }
          : {
              nodeType: "cache.t4g.micro",
              numCacheClusters: 1,
              automaticFailoverEnabled: false,
              multiAzEnabled: false,
              snapshotRetentionLimit: 0,
            },
      );
    },
  );

  it(production ? "is protected, and kept when the stage is removed" : "goes with its stage", () => {
    const kept = production ? { protect: true, retainOnDelete: true } : {};
    const [recorded] = graph().all("aws:elasticache/replicationGroup:ReplicationGroup");
    const { protect, retainOnDelete } = recorded?.options ?? {};
    expect({ protect, retainOnDelete }).toEqual({ protect: undefined, retainOnDelete: undefined, ...kept });
  });

  it("H-56 lies in the private subnets, its port open to members of its security group alone", () => {
    const ids = graph()
      .all("aws:ec2/subnet:Subnet")
      .filter(({ name }) => name.startsWith("VpcPrivate"))
      .map(({ id }) => id);
    expect(graph().inputs("aws:elasticache/subnetGroup:SubnetGroup", "RedisSubnetGroup").subnetIds).toEqual(
      ids,
    );
    expect(securityGroup().ingress).toEqual([{ protocol: "tcp", fromPort: 6379, toPort: 6379, self: true }]);
    const members = [
      cluster().securityGroupIds,
      graph().inputs("aws:lambda/function:Function", "IngressFunction").vpcConfig.securityGroupIds,
      graph().inputs("aws:ecs/service:Service", "WorkerService").networkConfiguration.securityGroups,
    ];
    const [group] = graph().all("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup");
    expect(members).toEqual([[group?.id], [group?.id], [group?.id]]);
  });
}
