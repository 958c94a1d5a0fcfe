import { setTimeout as sleep } from "node:timers/promises";
import type { TaskRecord } from "../checker/history.ts";
import { isEnd, type TaskRow } from "../checker/rows.ts";
import type { Leak } from "../checker/vault-record.ts";
import { createApi, type Told } from "./api.ts";
import type { Node } from "./node.ts";
import { noncesOf, resultValue } from "./nonces.ts";
import { isRecord } from "./task-requests.ts";
import type { Team } from "./teams.ts";

const AT_ONCE = 8;
/** A server that is busy may refuse for a while. */
const TRIES = 40;

async function retryRequest(ask: () => Promise<Told>): Promise<Told> {
  let told = await ask();
  for (let left = TRIES; left > 0 && (told.status === null || told.status >= 500); left -= 1) {
    await sleep(250);
    told = await ask();
  }
  return told;
}

/** What the API says of each task that has ended, one request for each. */
export async function readRecords(
  node: Node,
  tasks: readonly TaskRow[],
  teams: readonly Team[],
  leaks: Leak[],
): Promise<TaskRecord[]> {
  const api = createApi(leaks);
  const records: TaskRecord[] = [];
  const left = tasks.filter(({ status }) => isEnd(status));

  async function read(): Promise<void> {
    for (let task = left.pop(); task !== undefined; task = left.pop()) {
      const { id, teamId, status } = task;
      const key = teams.find((team) => team.id === teamId)?.key;
      if (key === undefined) throw new Error(`Task ${id} is of a team that no client has`);
      const asked = { action: "read", node, method: "GET", path: `/v1/tasks/${id}`, key } as const;
      const { body } = await retryRequest(() => api.ask(asked));
      const record = isRecord(body) && isRecord(body.task) ? body.task : body;
      if (!isRecord(record) || record.status !== status)
        throw new Error(`Task ${id} is ${status}, and the API says: ${JSON.stringify(body)}`);
      records.push({ id, status, nonces: noncesOf(record), value: resultValue(record) });
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, read));
  return records;
}
