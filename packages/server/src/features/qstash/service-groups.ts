import { MOST_ANSWER_BYTES } from "../../domain/answer-room.ts";
import { type RefuseUrl, urlComplaint } from "../../domain/call.ts";
import { echo, invalid, mustBe } from "../../domain/complaint.ts";
import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { requireRoom } from "../../domain/limits.ts";
import { cutPage, type Page, type PageRequest } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import { recordChange } from "../../service/audit/audit.ts";
import type { StorageQuota } from "../../service/storage-quota.ts";
import type { Database, Sql } from "../../store/sql.ts";
import { NAME_PATTERN } from "./domain-destination.ts";
import { MOST_ENDPOINTS } from "./domain-group.ts";
import {
  countUrlGroups,
  type Endpoint,
  findUrlGroup,
  hasGroupSchedule,
  insertUrlGroup,
  listUrlGroups,
  lockUrlGroup,
  removeUrlGroup,
  type UrlGroup,
  updateUrlGroup,
} from "./store.ts";

export interface UrlGroupService {
  /** Creates the group, or adds to it; an endpoint with a known name gets the new URL. */
  add(requester: Requester, name: string, endpoints: readonly Endpoint[]): Promise<void>;
  /** By name or URL. The last one takes the group along. */
  removeEndpoints(requester: Requester, name: string, endpoints: readonly Partial<Endpoint>[]): Promise<void>;
  get(principal: Principal, name: string): Promise<UrlGroup>;
  /** By name; the cursor is a name. Of large groups, somewhat more than an answer has room for. */
  page(principal: Principal, page: PageRequest): Promise<Page<UrlGroup>>;
  /** Replaces its endpoints, or creates it. Resolves with whether it is new. */
  put(requester: Requester, name: string, endpoints: readonly Endpoint[]): Promise<boolean>;
  remove(requester: Requester, name: string): Promise<void>;
}

/** PostgreSQL writes spaces between members, which adds a fifth at most. A group beyond this limit has no room in the answer. */
const MOST_READ_BYTES = 1.25 * MOST_ANSWER_BYTES;

export function createUrlGroupService(deps: {
  readonly database: Database;
  readonly refuseUrl: RefuseUrl;
  readonly storageQuota: Pick<StorageQuota, "store">;
}): UrlGroupService {
  const { database } = deps;

  /** Resolves with whether the group is new; null if another request has created it meanwhile. */
  async function tryStore(
    requester: Requester,
    name: string,
    change: (there: readonly Endpoint[]) => readonly Endpoint[],
  ): Promise<boolean | null> {
    const { teamId } = requester;
    return database.transaction(async (sql) => {
      const there = await lockUrlGroup(sql, teamId, name);
      const endpoints = change(there?.endpoints ?? []);
      if (endpoints.length > MOST_ENDPOINTS)
        throw invalid([mustBe("endpoints", `at most ${MOST_ENDPOINTS} in one URL group`)]);
      if (there === null) {
        requireRoom(requester, "urlGroups", await countUrlGroups(sql, teamId));
        if (!(await insertUrlGroup(sql, teamId, name, endpoints))) return null;
      } else await updateUrlGroup(sql, teamId, name, endpoints);
      const action = there === null ? "url_group.created" : "url_group.updated";
      await recordChange(sql, requester, { action, target: name, detail: { endpoints: endpoints.length } });
      return there === null;
    });
  }

  async function store(...asked: Parameters<typeof tryStore>): Promise<boolean> {
    for (;;) {
      const isNew = await tryStore(...asked);
      if (isNew !== null) return isNew;
    }
  }

  function check(name: string, endpoints: readonly Endpoint[]): void {
    requireName(name);
    const complaints = endpoints
      .map(({ url }) => urlComplaint("url", url, deps.refuseUrl))
      .filter((complaint) => complaint !== null);
    const names = endpoints.flatMap((endpoint) => endpoint.name ?? []);
    if (!names.every((each) => NAME_PATTERN.test(each)))
      complaints.push(mustBe("name", "1 to 64 letters, digits, dots, underscores or hyphens"));
    if (endpoints.length === 0) complaints.push(mustBe("endpoints", "a list with at least one endpoint"));
    if (complaints.length > 0) throw invalid(complaints);
  }

  /** In the transaction that has locked it. */
  async function drop(sql: Sql, { teamId }: Requester, name: string): Promise<void> {
    if (await hasGroupSchedule(sql, teamId, name)) throw new Problem("url_group_used", { name: echo(name) });
    await removeUrlGroup(sql, teamId, name);
  }

  return {
    async add(requester, name, endpoints) {
      check(name, endpoints);
      await deps.storageQuota.store(requester, JSON.stringify(endpoints).length);
      await store(requester, name, (there) => merged(there, endpoints));
    },
    async put(requester, name, endpoints) {
      check(name, endpoints);
      const chosen = merged([], endpoints);
      if (chosen.length < endpoints.length)
        throw invalid([mustBe("endpoints", "a list without an endpoint that is in it twice")]);
      await deps.storageQuota.store(requester, JSON.stringify(chosen).length);
      return store(requester, name, () => chosen);
    },
    async removeEndpoints(requester, name, removed) {
      const { teamId } = requester;
      await database.transaction(async (sql) => {
        const there = await lockUrlGroup(sql, teamId, name);
        if (there === null) throw new Problem("url_group_not_found", { name: echo(name) });
        const isRemoved = (endpoint: Endpoint) =>
          removed.some((each) =>
            each.name === undefined ? each.url === endpoint.url : each.name === endpoint.name,
          );
        const endpoints = there.endpoints.filter((endpoint) => !isRemoved(endpoint));
        if (endpoints.length > 0) await updateUrlGroup(sql, teamId, name, endpoints);
        else await drop(sql, requester, name);
        const action = endpoints.length > 0 ? "url_group.updated" : "url_group.deleted";
        await recordChange(sql, requester, { action, target: name, detail: { endpoints: endpoints.length } });
      });
    },
    async get({ teamId }, name) {
      const group = NAME_PATTERN.test(name) ? await findUrlGroup(database, teamId, name) : null;
      if (group === null) throw new Problem("url_group_not_found", { name: echo(name) });
      return group;
    },
    async page({ teamId }, { limit, cursor }) {
      const found = await listUrlGroups(database, teamId, { limit: limit + 1, cursor }, MOST_READ_BYTES);
      return cutPage(found, limit, ({ name }) => name);
    },
    async remove(requester, name) {
      await database.transaction(async (sql) => {
        if ((await lockUrlGroup(sql, requester.teamId, name)) === null)
          throw new Problem("url_group_not_found", { name: echo(name) });
        await drop(sql, requester, name);
        await recordChange(sql, requester, { action: "url_group.deleted", target: name });
      });
    },
  };
}

function requireName(name: string): void {
  if (!NAME_PATTERN.test(name))
    throw invalid([mustBe("name", "1 to 64 letters, digits, dots, underscores or hyphens")]);
}

function merged(there: readonly Endpoint[], added: readonly Endpoint[]): Endpoint[] {
  const endpoints = [...there];
  for (const endpoint of added) {
    const at = endpoints.findIndex(({ name, url }) =>
      endpoint.name === undefined ? name === undefined && url === endpoint.url : name === endpoint.name,
    );
    if (at < 0) endpoints.push(endpoint);
    else endpoints[at] = endpoint;
  }
  return endpoints;
}
