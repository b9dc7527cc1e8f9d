// Preloaded into a function: on SIGUSR2 it prints what keeps its process alive, as Node names it.

process.on("SIGUSR2", () => {
  process.stdout.write(`active resources: ${JSON.stringify(process.getActiveResourcesInfo())}\n`);
});
