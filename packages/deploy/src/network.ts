/**
 * Two zones, without NAT: workers run in the public subnets, functions that need Redis in the private ones, from
 * where nothing else can be reached.
 *
 * @param redisInside Redis lies in this network too: its port is open among the members of the security group,
 * which are Redis, the functions and the workers. Nothing else is open to anybody.
 */
export function createNetwork({ redisInside }: { readonly redisInside: boolean }): sst.aws.Vpc {
  return new sst.aws.Vpc("Vpc", {
    transform: {
      securityGroup: (args) => {
        args.ingress = redisInside ? [{ protocol: "tcp", fromPort: 6379, toPort: 6379, self: true }] : [];
      },
    },
  });
}
