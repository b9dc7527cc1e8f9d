declare module "bullmq/dist/cjs/scripts/addStandardJob-9.js" {
  const module: { addStandardJob: { name: string; content: string; keys: number } };
  export default module;
}

declare module "bullmq/dist/cjs/scripts/reprocessJob-9.js" {
  const module: { reprocessJob: { name: string; content: string; keys: number } };
  export default module;
}
