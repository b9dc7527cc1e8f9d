import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { claimDataFolder } from "./data-folder.js";
import { lives, temporaryFolder } from "./fixtures/temporary.js";
import { startRedisServer } from "./redis-server.js";

/** No process has this number on Linux or macOS. */
const DEAD = 2 ** 30;

/**
 * @param {string} dir
 * @param {object} claim
 */
function leave(dir, claim) {
  writeFileSync(join(dir, "claim.json"), JSON.stringify(claim));
}

/** @param {string} dir */
async function serverOn(dir) {
  const redis = await startRedisServer({ dir });
  onTestFinished(() => redis.stop());
  return redis;
}

/** @param {string} dir */
const claimOf = (dir) => JSON.parse(readFileSync(join(dir, "claim.json"), "utf8"));

describe("claimDataFolder", () => {
  it("is ours until it is released", async () => {
    const dir = temporaryFolder();
    const claim = await claimDataFolder(dir);
    expect(claimOf(dir)).toEqual({ pid: process.pid });
    claim.record({ pid: 4, port: 5 });
    expect(claimOf(dir)).toEqual({ pid: process.pid, server: { pid: 4, port: 5 } });
    claim.release();
    await claimDataFolder(dir);
  });

  it("refuses a second start while the first one's server runs", async () => {
    const dir = temporaryFolder();
    const { pid, port } = await serverOn(dir);
    leave(dir, { pid: process.pid, server: { pid, port } });
    await expect(claimDataFolder(dir)).rejects.toThrow(
      `in use by process ${process.pid}, another npm start of this checkout. End it with Ctrl-C first.`,
    );
    expect(lives(pid)).toBe(true);
  });

  it("refuses a second start while the first one's server is starting", async () => {
    const dir = temporaryFolder();
    leave(dir, { pid: process.pid });
    await expect(claimDataFolder(dir)).rejects.toThrow("in use by process");
    const aMinuteLater = () => Date.now() + 61_000;
    await claimDataFolder(dir, { now: aMinuteLater });
  });

  it("ends the server that a killed start left behind", async () => {
    const dir = temporaryFolder();
    const { pid, port, exited } = await serverOn(dir);
    leave(dir, { pid: DEAD, server: { pid, port } });
    /** @type {string[]} */
    const said = [];
    await claimDataFolder(dir, { log: (line) => said.push(line) });
    await exited;
    expect(lives(pid)).toBe(false);
    expect(said).toEqual([`redis: ending the server that a killed run left behind (process ${pid})`]);
  });

  it("never touches a server on another folder that has the port of the old one", async () => {
    const dir = temporaryFolder();
    const { pid, port } = await serverOn(temporaryFolder());
    leave(dir, { pid: DEAD, server: { pid: DEAD, port } });
    await claimDataFolder(dir);
    expect(lives(pid)).toBe(true);
  });

  it("takes over a claim whose process numbers belong to others now, and one that was cut off", async () => {
    const dir = temporaryFolder();
    leave(dir, { pid: process.pid, server: { pid: DEAD, port: 1 } });
    const claim = await claimDataFolder(dir);
    claim.release();
    writeFileSync(join(dir, "claim.json"), '{"pid":');
    await claimDataFolder(dir);
    expect(claimOf(dir)).toEqual({ pid: process.pid });
  });
});
