import type { Command } from "commander";
import { VERSION } from "../../version.ts";
import { createBellhop } from "../sdk.ts";
import { printable } from "../table.ts";
import { examine, type Finding } from "./doctor-checks.ts";
import { type ServerOptions, serverCommand, show, type User } from "./user.ts";

const MARKS = { ok: "ok", warning: "!!", failed: "XX", unknown: "??" } as const;

export function addDoctorCommand(program: Command, user: User): void {
  serverCommand(
    program,
    "doctor",
    "check a running server and say what to do; exits 1 if it does not work",
  ).action(async (options: ServerOptions) => {
    const server = await user.choose(options);
    const client = createBellhop({
      url: server.url,
      apiKey: server.apiKey,
      maxRetries: 0,
      timeoutMs: 10_000,
    });
    const findings = await examine(server, client, { version: VERSION, now: Date.now });
    show(user, options, { findings }, () => findings.map(describe).join(""));
    if (findings.some(({ state }) => state === "failed")) process.exitCode = 1;
  });
}

function describe({ check, state, found, todo }: Finding): string {
  const lines = [`${MARKS[state]}  ${check.padEnd(10)}  ${printable(found)}`];
  if (todo !== null) lines.push(`                → ${todo}`);
  return `${lines.join("\n")}\n`;
}
