import { spawn } from "node:child_process";

/** @type {Set<number>} */
const groups = new Set();

/**
 * Kill a process group when this process ends, in whatever way it ends.
 *
 * A clean exit runs our `exit` handler. A SIGKILL runs nothing of ours, so a small shell waits at a pipe that
 * only we hold open: when the pipe closes, we are gone, and the shell runs `lastResort`.
 *
 * @param {number} pid of a child spawned with `detached: true`, so that it leads its own process group
 * @param {readonly string[]} [lastResort] the command that ends the child, when a signal would not
 * @returns {() => Promise<void>} call it once the child has ended
 */
export function dieWithParent(pid, lastResort = ["kill", "-9", `-${pid}`]) {
  if (groups.size === 0) process.on("exit", killGroups);
  groups.add(pid);

  const guardian = spawn("sh", ["-c", 'read -r _; "$@"', "anvil-guardian", ...lastResort], {
    stdio: ["pipe", "ignore", "ignore"],
    // Its own group: a Ctrl-C in the terminal must not take the guardian before the child.
    detached: true,
  });
  guardian.unref();
  const ended = new Promise((resolve) => {
    guardian.once("exit", resolve);
    // No `sh` on this machine: the exit handler is what is left.
    guardian.once("error", resolve);
  });

  return async () => {
    groups.delete(pid);
    if (groups.size === 0) process.off("exit", killGroups);
    guardian.ref();
    guardian.kill("SIGKILL");
    await ended;
  };
}

function killGroups() {
  for (const pid of groups) signalGroup(pid, "SIGKILL");
}

/**
 * @param {number} pid the leader of the group
 * @param {NodeJS.Signals} signal
 * @returns {boolean} false when no process of that group is left
 */
export function signalGroup(pid, signal) {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ESRCH") return false;
    throw error;
  }
}
