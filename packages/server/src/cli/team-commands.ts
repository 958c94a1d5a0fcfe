import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { readEmail } from "../domain/identity/email.ts";
import { PLANS, type Plan } from "../domain/identity/plan.ts";
import { ROLES, type Role } from "../domain/identity/role.ts";
import type { Member } from "../domain/identity/team.ts";
import { isWrong, type OwnLimits, parseLimits } from "../domain/limits.ts";
import { formatId } from "../domain/public-id.ts";
import type { Joined } from "../service/operator/operator-members.ts";
import type { TeamDetail, TeamSummary } from "../service/operator/operator-teams.ts";
import { dayOf, describeKeys } from "./key-commands.ts";
import { type Operator, toJson } from "./operator.ts";
import { type Column, printable, renderTable } from "./table.ts";

export function addTeamCommands(program: Command, operator: Operator): void {
  const team = program.command("team").description("teams, their plans and their members");
  const { userName, terminalWidth, print } = operator;

  team
    .command("list")
    .description("list all teams")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: true }) => {
      const teams = await operator.work((database, { listTeams }) => listTeams(database));
      print(json ? toJson({ teams }) : renderTable(TEAM_COLUMNS, teams, terminalWidth));
    });

  team
    .command("show")
    .description("show a team with its members and API keys")
    .argument("<team>", "id or exact name")
    .option("--json", "print JSON")
    .action(async (text: string, { json }: { json?: true }) => {
      const detail = await operator.work((database, { showTeam }) => showTeam(database, text));
      const members = detail.members.map(({ userId, ...member }) => ({
        id: formatId("user", userId),
        ...member,
      }));
      print(json ? toJson({ ...detail, members }) : describeTeam(detail, terminalWidth));
    });

  team
    .command("create")
    .description("create a team, with a queue called default")
    .argument("<name>", "name of the team")
    .addOption(new Option("--plan <plan>", "plan of the team").choices(PLANS).default("free"))
    .option("--per-minute <n>", "requests a minute, for enterprise; without it no limit", readCount)
    .option("--owner <email>", "address of its owner")
    .option("--json", "print JSON")
    .action(async (name: string, options: CreateOptions) => {
      const { plan, perMinute = null, owner = null, json } = options;
      const made = await operator.work((database, { createOperatorsTeam }) =>
        createOperatorsTeam(database, userName, { name, plan, perMinute, owner }),
      );
      if (json) return print(toJson({ team: made }));
      print(`Created "${printable(made.name)}", ${made.id}: ${describePlan(made)}\n`);
      if (owner !== null) print(`${readEmail(owner)} may sign in as its owner\n`);
    });

  team
    .command("plan")
    .description("change the plan of a team; a running server applies it within a second")
    .argument("<team>", "id or exact name")
    .addArgument(new Argument("<plan>", "new plan").choices(PLANS))
    .option("--per-minute <n>", "requests a minute, for enterprise; without it no limit", readCount)
    .option("--limit <name=n>", "a limit for this team, or name=none; may be repeated", readLimit)
    .action(async (text: string, plan: Plan, options: { perMinute?: number; limit?: OwnLimits }) => {
      const { perMinute = null, limit: ownLimits = null } = options;
      const { before, after } = await operator.work((database, { changePlan }) =>
        changePlan(database, userName, text, { plan, perMinute, ownLimits }),
      );
      const was = isSamePlan(before, after) ? "as before" : `was ${describePlan(before)}`;
      print(`${printable(after.name)}: ${describePlan(after)} (${was})\n`);
    });

  team
    .command("add")
    .description("add a member without an invitation, or change a member's role")
    .argument("<team>", "id or exact name")
    .argument("<email>", "the address to sign in with")
    .addOption(new Option("--role <role>", "role; without it, member or the current role").choices(ROLES))
    .action(async (text: string, email: string, options: { role?: Role }) => {
      const { role = null } = options;
      const joined = await operator.work((database, { addMember }) =>
        addMember(database, userName, text, { email, role }),
      );
      print(describeJoined(joined));
      if (!joined.hasOwner) print(NO_OWNER);
    });

  team
    .command("remove")
    .description("remove a member from a team; their sessions in the team end")
    .argument("<team>", "id or exact name")
    .argument("<email>", "the address of the member")
    .action(async (text: string, address: string) => {
      const removed = await operator.work((database, { removeMember }) =>
        removeMember(database, userName, text, address),
      );
      print(`${printable(removed.email)} is no longer a member of ${printable(removed.team)}\n`);
      if (!removed.hasOwner) print(NO_OWNER);
    });
}

const NO_OWNER = "The team has no owner now; bellhop team add … --role owner names one\n";

interface CreateOptions {
  readonly plan: Plan;
  readonly perMinute?: number;
  readonly owner?: string;
  readonly json?: true;
}

const TEAM_COLUMNS: readonly Column<TeamSummary>[] = [
  { title: "NAME", of: ({ name }) => name },
  { title: "PLAN", of: ({ plan }) => plan },
  {
    title: "PER MINUTE",
    of: ({ requestsPerMinute }) => String(requestsPerMinute ?? "no limit"),
    align: "right",
  },
  { title: "MEMBERS", of: ({ members }) => String(members), align: "right" },
  { title: "KEYS", of: ({ activeKeys }) => String(activeKeys), align: "right" },
  { title: "CREATED", of: ({ createdAt }) => dayOf(createdAt) },
  { title: "ID", of: ({ id }) => id },
];

const MEMBER_COLUMNS: readonly Column<Member>[] = [
  { title: "ROLE", of: ({ role }) => role },
  { title: "SINCE", of: ({ joinedAt }) => dayOf(joinedAt) },
  { title: "MEMBER", of: ({ email }) => email },
];

function describeTeam({ team, members, apiKeys }: TeamDetail, terminalWidth: number | undefined): string {
  const people = members.length === 0 ? "No members\n" : renderTable(MEMBER_COLUMNS, members, terminalWidth);
  const head = [
    printable(team.name),
    `  id       ${team.id}`,
    `  plan     ${describePlan(team)}`,
    `  created  ${dayOf(team.createdAt)}`,
  ];
  return `${head.join("\n")}\n\n${people}\n${describeKeys(apiKeys, terminalWidth)}`;
}

function describeJoined({ team, email, role, before }: Joined): string {
  const [who, where] = [printable(email), printable(team)];
  if (before === null) return `${who} may sign in to ${where} as ${role}\n`;
  return before === role
    ? `${who} is ${role} of ${where} already\n`
    : `${who} is now ${role} of ${where} (was ${before})\n`;
}

function isSamePlan(one: TeamSummary, other: TeamSummary): boolean {
  return describePlan(one) === describePlan(other);
}

function describePlan({ plan, requestsPerMinute, ownLimits }: TeamSummary): string {
  const own = Object.entries(ownLimits ?? {}).map(
    ([name, figure]) => `, ${name} ${figure ?? "without a limit"}`,
  );
  const rate = requestsPerMinute === null ? "no limit" : `${requestsPerMinute} requests a minute`;
  return `${plan}, ${rate}${own.join("")}`;
}

function readLimit(text: string, before: OwnLimits = {}): OwnLimits {
  const read = parseLimits(text);
  if (isWrong(read)) throw new InvalidArgumentError(`It ${read.wrong}.`);
  return { ...before, ...read };
}

function readCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}
