import { Problem } from "../../domain/problem.ts";
import { formatId, parseId } from "../../domain/public-id.ts";
import { closestName } from "../../domain/spelling.ts";
import {
  type DirectoryEntry,
  findInDirectory,
  findNamedInDirectory,
  listTeamNames,
} from "../../store/identity/team-directory.ts";
import type { Sql } from "../../store/sql.ts";
import type { ChangeAuthor } from "../audit/audit.ts";

/** Finds a team by id or exact name. */
export async function findOperatorsTeam(sql: Sql, text: string): Promise<DirectoryEntry> {
  const publicId = parseId("team", text);
  if (publicId !== null) {
    const entry = await findInDirectory(sql, publicId);
    if (entry === null) throw refusal(`There is no team with the id ${text}`);
    return entry;
  }
  const [entry, ...others] = await findNamedInDirectory(sql, text);
  if (entry === undefined) {
    const meant = closestName(text, await listTeamNames(sql));
    throw refusal(`There is no team "${text}"${meant === undefined ? "" : `; did you mean "${meant}"?`}`);
  }
  if (others.length === 0) return entry;
  const ids = [entry, ...others].map((team) => formatId("team", team.publicId));
  throw refusal(`Several teams are called "${text}", use the id: ${ids.join(", ")}`);
}

/** The operator as the author of a change, for the team's audit log. */
export function operatorOf(teamId: number, userName: string): ChangeAuthor {
  return { teamId, kind: "operator", id: userName, name: userName, address: null, requestId: null };
}

export function refusal(reason: string): Problem {
  return new Problem("invalid", { reason });
}
