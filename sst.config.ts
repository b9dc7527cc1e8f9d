/// <reference path="./.sst/platform/config.d.ts" />

/**
 * What `sst deploy --stage <you>` and `sst deploy --stage production` create. SST allows no
 * imports at its top.
 *
 * Settings: packages/deploy/src/settings.ts. Each part of it: a file of packages/deploy/src.
 */
export default $config({
  app(input) {
    // All settings are checked in run(): SST shows no error that is thrown here.
    const { ANVIL_DEPLOY_PROTECT: protect, ANVIL_DEPLOY_REGION: region } = process.env;
    const isProtected = protect ? protect !== "no" : input.stage === "production";
    return {
      name: "anvil",
      version: "4.17.1",
      home: "aws",
      // A stage that isn't protected leaves nothing behind.
      protect: isProtected,
      removal: isProtected ? "retain" : "remove",
      providers: {
        aws: {
          version: "7.20.0",
          ...(region ? { region: region as aws.Region } : {}),
          defaultTags: { tags: { application: "anvil", stage: input.stage } },
        },
      },
    };
  },
  async run() {
    const { default: config } = await import("./anvil.config.ts");
    const { readSettings } = await import("./packages/deploy/src/settings.ts");
    const { checkSecrets } = await import("./packages/deploy/src/required-secrets.ts");
    const { createInfrastructure } = await import("./packages/deploy/src/infrastructure.ts");
    const settings = readSettings(process.env, $app.stage);
    checkSecrets(settings, config, process.env);
    return createInfrastructure(settings, config, process.env);
  },
});
