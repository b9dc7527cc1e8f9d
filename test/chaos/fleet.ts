import { type ChildProcess, fork } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "anvil-bootstrap/free-port";
import { type Boundary, FLEET, type Role } from "./plan.ts";
import type { Ready } from "./processes/fleet-member.ts";

/** The processes of a run, each started again when it ends, as an orchestrator does. */
export interface Fleet {
  readonly ingressUrls: readonly string[];
  /** SIGKILL, wherever it is. Resolves when it is dead. */
  kill(role: Role, slot: number): Promise<void>;
  /** SIGKILL at a step of the protocol; anywhere, when it hasn't come to that step in time. @returns whether it had */
  killAt(role: Role, slot: number, boundary: Boundary): Promise<boolean>;
  /** SIGSTOP for so long. */
  freeze(role: Role, slot: number, ms: number): Promise<void>;
  /** SIGTERM, and SIGKILL like an orchestrator's when that takes longer than its stop timeout. */
  terminate(role: Role, slot: number): Promise<void>;
  /** Processes that ended by themselves, with the last they said. None is expected. */
  crashes(): readonly string[];
  /** SIGTERM for all, and none is started again. */
  stop(): Promise<void>;
}

interface Member {
  readonly role: Role;
  readonly slot: number;
  readonly log: string;
  readonly env: Readonly<Record<string, string>>;
  child?: ChildProcess;
  ready: Promise<void>;
  /** That its end is our doing. */
  doomed: boolean;
}

/** How long a process gets to come to the step at which it is to die. */
const BOUNDARY_LIMIT_MS = 4_000;
const STOP_TIMEOUT_MS = 8_000;

/** @param env by role: what each process is told */
export async function startFleet(options: {
  readonly bundles: Readonly<Record<Role, string>>;
  /** For what the processes print. */
  readonly folder: string;
  readonly env: Readonly<Record<Role, Readonly<Record<string, string>>>>;
}): Promise<Fleet> {
  const members: Member[] = [];
  const crashes: string[] = [];
  let stopping = false;

  for (const [role, count] of Object.entries(FLEET) as [Role, number][]) {
    for (let slot = 0; slot < count; slot++) {
      const port: Record<string, string> = role === "ingress" ? { PORT: String(await freePort()) } : {};
      members.push({
        role,
        slot,
        log: join(options.folder, `${role}-${slot}.log`),
        env: { ...options.env[role], ...port },
        ready: Promise.resolve(),
        doomed: false,
      });
    }
  }

  function start(member: Member): void {
    const { PATH = "", HOME = "" } = process.env;
    const log = openSync(member.log, "a");
    const child = fork(options.bundles[member.role], {
      env: { PATH, HOME, ...member.env },
      execArgv: [],
      stdio: ["ignore", log, log, "ipc"],
    });
    closeSync(log);
    // Of a killed child the channel sometimes stays open, and would keep this process from ever ending.
    child.channel?.unref();
    member.child = child;
    member.doomed = false;
    member.ready = new Promise((resolve) => {
      child.once("message", (message: Ready) => message.ready && resolve());
      child.once("exit", () => resolve());
    });
    child.once("exit", (code, signal) => {
      if (!member.doomed) {
        crashes.push(`${member.role} ${member.slot} ended by itself: ${signal ?? `exit code ${code}`}`);
      }
      if (!stopping) start(member);
    });
  }

  const find = (role: Role, slot: number): Member => {
    const member = members.find((each) => each.role === role && each.slot === slot);
    if (!member) throw new Error(`there is no ${role} ${slot}`);
    return member;
  };
  /** A process that works, and the promise of its end. */
  async function doom(role: Role, slot: number) {
    const member = find(role, slot);
    await member.ready;
    const child = member.child as ChildProcess;
    member.doomed = true;
    const ended = new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) resolve();
      else child.once("exit", () => resolve());
    });
    return { child, ended };
  }

  for (const member of members) start(member);
  await Promise.all(members.map(({ ready }) => ready));

  return {
    ingressUrls: members
      .filter(({ role }) => role === "ingress")
      .map(({ env }) => `http://127.0.0.1:${env.PORT}`),
    async kill(role, slot) {
      const { child, ended } = await doom(role, slot);
      child.kill("SIGKILL");
      await ended;
    },
    async killAt(role, slot, boundary) {
      const { child, ended } = await doom(role, slot);
      child.send({ dieAt: boundary }, () => {});
      const died = await Promise.race([ended.then(() => true), delay(BOUNDARY_LIMIT_MS).then(() => false)]);
      if (!died) child.kill("SIGKILL");
      await ended;
      return died;
    },
    async freeze(role, slot, ms) {
      const { child } = find(role, slot);
      child?.kill("SIGSTOP");
      await delay(ms);
      child?.kill("SIGCONT");
    },
    terminate,
    crashes: () => crashes,
    async stop() {
      stopping = true;
      await Promise.all(members.map(({ role, slot }) => terminate(role, slot)));
      await quoteLogs(members, crashes);
    },
  };

  async function terminate(role: Role, slot: number): Promise<void> {
    const { child, ended } = await doom(role, slot);
    child.kill("SIGTERM");
    const limit = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(limit);
  }
}

/** What a process said last, under the crash that it explains. */
async function quoteLogs(members: readonly Member[], crashes: string[]): Promise<void> {
  for (const [index, crash] of crashes.entries()) {
    const member = members.find(({ role, slot }) => crash.startsWith(`${role} ${slot} `));
    const lines = member ? (await readFile(member.log, "utf8")).trimEnd().split("\n") : [];
    const uncaught = lines.filter((line) => /^\s+at |Error/.test(line) && !line.startsWith("{")).slice(-12);
    crashes[index] = [crash, ...uncaught].join("\n  ");
  }
}
