import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../config.ts";
import { describeEgress } from "../outbound/egress-policy.ts";
import { LINK_MINUTES } from "../service/people/sign-in-service.ts";
import { SETTINGS } from "../settings.ts";
import { KEY_FILE } from "../vault/key-file.ts";
import { VERSION } from "../version.ts";
import type { RunningServer } from "./open-server.ts";

const ROLES = {
  api: "api: serves requests; tasks are executed by nodes of the role worker or all",
  worker: "worker: makes calls; serves only /livez, /readyz, /healthz and /metrics",
} as const;

/** Data directories to list, nearest first. */
const MOST_SHOWN = 5;

/** The text that a start prints. Scripts wait for its last line. */
export function renderBanner(
  server: RunningServer,
  otherData: readonly string[],
  config: Config,
  /** The number of processes that suits this machine. */
  suitable: number,
): string {
  const { url, database } = server;
  const lines = [
    `Bellhop ${VERSION}`,
    `  address   ${url}${config.role === "worker" ? "" : `  (dashboard; API reference at ${url}/docs)`}`,
    ...(config.role === "all" ? [] : [`  role      ${ROLES[config.role]}`]),
    ...processLines(server, config, suitable),
    `  database  ${database}`,
    ...dataLines(server, otherData),
    `  egress    ${describeEgress(config.egress)}`,
    ...peopleLines(config),
    ...vaultLines(server, config),
    ...keyLines(server, config),
    `Bellhop is ready at ${url}`,
  ];
  return `${lines.join("\n")}\n`;
}

/** A start in the wrong directory creates an empty database there, so the banner points to existing data. */
function dataLines({ dataDir, isNewData }: RunningServer, otherData: readonly string[]): string[] {
  if (dataDir === null) return [];
  if (!isNewData) return [`  data      ${dataDir}`];
  if (otherData.length === 0) return [`  data      ${dataDir}  (new and empty)`];
  return [
    `  data      ${dataDir}`,
    "            NEW AND EMPTY. There is data of another start in",
    ...otherData.slice(0, MOST_SHOWN).map((path) => `              ${path}`),
    ...(otherData.length > MOST_SHOWN ? [`              and ${otherData.length - MOST_SHOWN} more`] : []),
    `            To use that, stop this server and set ${SETTINGS.dataDir.name}.`,
  ];
}

/** Empty if one process already uses all cores. */
function processLines({ processes }: RunningServer, config: Config, suitable: number): string[] {
  const { name } = SETTINGS.processes;
  if (processes > 1)
    return [
      `  processes ${processes} ${config.processes === null ? `by cores and memory; ${name} changes it` : `(set by ${name})`}`,
    ];
  if (config.processes !== null || suitable === 1) return [];
  return [
    `  processes 1; ${name}=${suitable} would use this machine, with up to 22 connections to PostgreSQL each`,
  ];
}

const SIGN_UP = {
  open: "open: a person who signs in for the first time gets a team",
  invited: "invited: only members and invited people can sign in",
};

function peopleLines({ signUp, signInLinks, smtpUrl }: Config): string[] {
  const links =
    smtpUrl !== null
      ? `by mail (set by ${SETTINGS.smtpUrl.name})`
      : signInLinks.value === "log"
        ? `in the log, because no mail server is set (${signInLinks.why})`
        : `by ${commandLine("session link <email>")}, because no mail server is set (${signInLinks.why})`;
  return [`  sign-up   ${SIGN_UP[signUp.value]} (${signUp.why})`, `  sign-in   links ${links}`];
}

function vaultLines({ missingKeys, dataDir }: RunningServer, { vaultKeys, databaseUrl }: Config): string[] {
  if (missingKeys.length > 0) return missingKeyLines(missingKeys, vaultKeys === null ? dataDir : null);
  if (vaultKeys !== null || databaseUrl === null) return [];
  return [
    `  vault     off: credentials cannot be stored until ${SETTINGS.vaultKeys.name} is set, the same on every node.`,
    `            Create a key with: ${commandLine("vault key")}`,
  ];
}

/** After a restore without the keys, for example. A new key cannot decrypt the stored credentials. */
function missingKeyLines(ids: readonly string[], keyFileIn: string | null): string[] {
  const { name } = SETTINGS.vaultKeys;
  const isOne = ids.length === 1;
  return [
    `  vault     the ${isOne ? "key" : "keys"} ${ids.join(", ")} ${isOne ? "is" : "are"} missing: stored credentials are encrypted with ${isOne ? "it" : "them"} and cannot be used.`,
    keyFileIn === null
      ? `            Set ${name} with ${isOne ? "this key" : "these keys"}, as when the credentials were stored, the same on every node.`
      : `            Add ${isOne ? "this key" : "these keys"} to ${join(keyFileIn, KEY_FILE)}, one on each line, and start again.`,
  ];
}

/** Key and link are shown once; the operator can create new ones. */
function keyLines({ firstKey, firstLink }: RunningServer, { apiKey, role }: Config): string[] {
  if (firstKey !== null)
    return [
      "",
      ...(firstLink === null
        ? []
        : [
            `  Your dashboard (the link works once, within ${LINK_MINUTES} minutes):`,
            "",
            `  ${firstLink}`,
            "",
          ]),
      "  Your API key, shown only once:",
      "",
      `  export KEY=${firstKey}`,
      "",
    ];
  if (apiKey !== null || role === "worker") return [];
  return [`  API key   as shown by the first start; another: ${commandLine('key create Operator "a name"')}`];
}

/** The bellhop command in a form that works here: in a checkout, installed, by npx or by its file. */
function commandLine(command: string): string {
  const { npm_lifecycle_event: script, npm_command: npm } = process.env;
  if (script === "start" || script === "bellhop") return `npm run --silent bellhop -- ${command}`;
  if (npm !== "exec" && basename(process.argv[1] ?? "") === "bellhop") return `bellhop ${command}`;
  return `node "${fileURLToPath(new URL("../cli/bellhop.js", import.meta.url))}" ${command}`;
}
