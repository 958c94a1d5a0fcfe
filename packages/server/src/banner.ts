import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "./config.ts";
import type { RunningServer } from "./open-server.ts";
import { describeEgress } from "./outbound/egress-policy.ts";
import { LINK_MINUTES } from "./service/people/sign-in-service.ts";
import { SETTINGS } from "./settings.ts";
import { KEY_FILE } from "./vault/key-file.ts";
import { VERSION } from "./version.ts";

const ROLES = {
  api: "api: serves requests; tasks are executed by nodes of the role worker or all",
  worker: "worker: makes calls; serves /livez, /readyz, /healthz and /metrics alone",
} as const;

/** The nearest come first. */
const MOST_SHOWN = 5;

/** What a start tells. Its last line is the one that scripts wait for. */
export function renderBanner(
  server: RunningServer,
  otherData: readonly string[],
  config: Config,
  /** How many processes this machine has room for. */
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

/** A start in the wrong directory makes an empty database there: the operator who misses tasks must see it at once. */
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

/** Nothing where there is nothing to choose: on a machine whose cores are all used. */
function processLines({ processes }: RunningServer, config: Config, suitable: number): string[] {
  const { name } = SETTINGS.processes;
  if (processes > 1)
    return [
      `  processes ${processes} ${config.processes === null ? `by cores and memory; ${name} says otherwise` : `(set by ${name})`}`,
    ];
  if (config.processes !== null || suitable === 1) return [];
  return [
    `  processes 1; ${name}=${suitable} would use this machine, with up to 21 connections to PostgreSQL each`,
  ];
}

const SIGN_UP = {
  open: "open: a person who signs in for the first time gets a team",
  invited: "invited: only members and those invited can sign in",
};

function peopleLines({ signUp, signInLinks, smtpUrl }: Config): string[] {
  const links =
    smtpUrl !== null
      ? `by mail (set by ${SETTINGS.smtpUrl.name})`
      : signInLinks.value === "log"
        ? `in the log, as there is no mail server (${signInLinks.why})`
        : `made by ${commandLine("session link <email>")}, as there is no mail server (${signInLinks.why})`;
  return [`  sign-up   ${SIGN_UP[signUp.value]} (${signUp.why})`, `  sign-in   links ${links}`];
}

function vaultLines({ missingKeys, dataDir }: RunningServer, { vaultKeys, databaseUrl }: Config): string[] {
  if (missingKeys.length > 0) return missingKeyLines(missingKeys, vaultKeys === null ? dataDir : null);
  if (vaultKeys !== null || databaseUrl === null) return [];
  return [
    `  vault     off: credentials cannot be stored until ${SETTINGS.vaultKeys.name} is set, the same on every node.`,
    `            Make a key with: ${commandLine("vault key")}`,
  ];
}

/** As after a restore without the keys. A new key would open nothing of what is stored. */
function missingKeyLines(ids: readonly string[], keyFileIn: string | null): string[] {
  const { name } = SETTINGS.vaultKeys;
  const isOne = ids.length === 1;
  return [
    `  vault     the ${isOne ? "key" : "keys"} ${ids.join(", ")} ${isOne ? "is" : "are"} missing: stored credentials are sealed with ${isOne ? "it" : "them"} and cannot be used.`,
    keyFileIn === null
      ? `            Set ${name} with ${isOne ? "this key" : "these keys"}, as when the credentials were stored, the same on every node.`
      : `            Add ${isOne ? "this key" : "these keys"} to ${join(keyFileIn, KEY_FILE)}, one on each line, and start again.`,
  ];
}

/** Key and link are shown once; an operator who lost one makes another. */
function keyLines({ firstKey, firstLink }: RunningServer, { apiKey, role }: Config): string[] {
  if (firstKey !== null)
    return [
      "",
      ...(firstLink === null
        ? []
        : [
            `  Your dashboard, by a link that works once, within ${LINK_MINUTES} minutes:`,
            "",
            `  ${firstLink}`,
            "",
          ]),
      "  Your API key, shown this once:",
      "",
      `  export KEY=${firstKey}`,
      "",
    ];
  if (apiKey !== null || role === "worker") return [];
  return [`  API key   as shown by the first start; another: ${commandLine('key create Operator "a name"')}`];
}

/** The bellhop command in a form that works here: in a checkout, where it is installed, by npx or by its file alone. */
function commandLine(command: string): string {
  const { npm_lifecycle_event: script, npm_command: npm } = process.env;
  if (script === "start" || script === "bellhop") return `npm run --silent bellhop -- ${command}`;
  if (npm !== "exec" && basename(process.argv[1] ?? "") === "bellhop") return `bellhop ${command}`;
  return `node "${fileURLToPath(new URL("cli/bellhop.js", import.meta.url))}" ${command}`;
}
