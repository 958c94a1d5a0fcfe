import { setTimeout as sleep } from "node:timers/promises";
import { NO_WISH } from "../checker/outside/wishes.ts";
import { CANARY, LITERAL_HEADER } from "../checker/vault.ts";
import type { VaultRecord, VaultToken } from "../checker/vault-record.ts";
import type { Api } from "./api.ts";
import { type Asking, RETRY_MS } from "./asking.ts";
import { now } from "./clock.ts";
import type { Random } from "./random.ts";
import { isRecord, readTaskId } from "./task-requests.ts";
import type { Team } from "./teams.ts";

/** Active tokens of each team. */
const TOKENS = 3;

type Token = { -readonly [Field in keyof VaultToken]: VaultToken[Field] };

/** A team with its queue. */
interface Owner {
  readonly key: string;
  readonly queue: string;
  readonly tokens: Token[];
}

export interface VaultClients {
  readonly tokens: VaultRecord["tokens"];
  readonly tasks: VaultRecord["tasks"];
  prepare(): Promise<void>;
  /** Creates tasks that name tokens, and revokes and replaces tokens, until it is told to stop. */
  work(signal: AbortSignal): Promise<void>;
}

/** Programs of two teams that keep the credentials of third parties in the vault. */
export function createVaultClients(deps: {
  readonly api: Api;
  readonly asking: Asking;
  readonly random: Random;
  readonly target: string;
  readonly teams: { readonly main: Team; readonly neighbour: Team };
}): VaultClients {
  const { api, asking, random, target, teams } = deps;
  const owners: readonly Owner[] = [
    { key: teams.main.key, queue: "steady", tokens: [] },
    { key: teams.neighbour.key, queue: "neighbour", tokens: [] },
  ];
  const tokens: Token[] = [];
  const tasks: VaultRecord["tasks"][number][] = [];
  let count = 0;

  async function store(owner: Owner, forMs: number): Promise<void> {
    count += 1;
    const value = `Bearer ${CANARY}${count}-${random.between(1e8, 1e9)}`;
    const body = { name: `token ${count}`, value, allowedHosts: ["127.0.0.1"] };
    const asked = { action: "token", method: "POST", path: "/v1/tokens", body, key: owner.key } as const;
    const told = await asking.retryRequest((node) => api.ask({ ...asked, node }), forMs);
    const stored = isRecord(told.body) && isRecord(told.body.token) ? told.body.token : told.body;
    if (told.status !== 201 || !isRecord(stored)) return;
    const token = { id: String(stored.id), value, revoking: null, revokedAt: null };
    tokens.push(token);
    owner.tokens.push(token);
  }

  /** While two tasks wait that name it. The first answer may be lost: then it is not found any more. */
  async function revoke(owner: Owner): Promise<void> {
    const { key, tokens: own } = owner;
    const [token] = own.splice(random.between(0, own.length - 1), 1);
    if (token === undefined) return;
    for (const delay of [1, 2]) await create(owner, token, delay);
    token.revoking = now();
    const asked = { action: "token", method: "DELETE", path: `/v1/tokens/${token.id}`, key } as const;
    const { status } = await asking.retryRequest((node) => api.ask({ ...asked, node }));
    if (status === 200 || status === 404) token.revokedAt = now();
  }

  async function create({ key, queue }: Owner, { id }: Token, delay: number): Promise<void> {
    count += 1;
    const [nonce, literal] = [`v-${count}`, `literal-${count}`];
    const call = random.pick([
      "ok?ms=20",
      "slow?ms=900&until=9",
      "error?until=1",
      "reset?until=1",
      "redirect?until=1",
    ]);
    const body = {
      queue,
      webhook_url: `${target}/call/${call}&nonce=${nonce}${random.chance(0.5) ? "&echo=yes" : ""}`,
      payload: { nonce },
      headers: { Authorization: id, [LITERAL_HEADER]: literal },
      max_retries: 3,
      ...(delay > 0 && { delay }),
    };
    tasks.push({ nonce, tokenId: id, literal });
    const asked = { action: "create", method: "POST", path: "/v1/tasks", body, key, queue } as const;
    await api.ask({ ...asked, node: asking.anyNode(), carried: nonce, wish: NO_WISH }, readTaskId);
  }

  return {
    tokens,
    tasks,
    async prepare() {
      for (const owner of owners)
        for (let left = TOKENS; left > 0; left -= 1) await store(owner, RETRY_MS.calm);
    },
    async work(signal) {
      const creating = new Set<Promise<void>>();
      while (!signal.aborted) {
        const owner = random.pick(owners);
        if (owner.tokens.length > 0) {
          const delay = random.chance(0.3) ? random.between(1, 4) : 0;
          const created: Promise<void> = create(owner, random.pick(owner.tokens), delay).finally(() =>
            creating.delete(created),
          );
          creating.add(created);
        }
        if (random.chance(0.1)) await revoke(owner);
        if (owner.tokens.length < TOKENS) await store(owner, RETRY_MS.storm);
        await sleep(random.between(200, 900));
      }
      await Promise.all(creating);
    },
  };
}
