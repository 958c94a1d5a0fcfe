import { setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "../checker/history.ts";
import { now } from "./clock.ts";
import type { Cluster } from "./cluster.ts";
import type { Postgres } from "./postgres.ts";
import type { Random } from "./random.ts";
import { NEWEST_KEY_ID, RINGS } from "./vault-keys.ts";

/** Of the run: until it begins, and between its two halves. */
const QUIET_SHARE = 0.12;
/** How long the last rows may take once everything is calm. */
const SEALED_MS = 20_000;

/** Replaces the key of the vault while the nodes work: each is restarted twice, killed or asked to stop. */
export async function rotateVault(
  { nodes, setVaultKeys }: Pick<Cluster, "nodes" | "setVaultKeys">,
  options: { readonly seconds: number; readonly random: Random; readonly note: (fault: Fault) => void },
): Promise<void> {
  for (const keys of RINGS) {
    await sleep(options.seconds * 1000 * QUIET_SHARE);
    setVaultKeys(keys);
    for (const node of nodes) {
      const from = now();
      await (options.random.chance(0.5) ? node.kill() : node.stop());
      await node.start();
      options.note({ kind: "vault-key", nodes: [node.index], from, to: now(), detail: "", paused: [] });
    }
  }
}

/** The rows that the newest key has not sealed, once nothing changes any more. */
export async function findUnsealed({ query }: Postgres): Promise<string[]> {
  const untilMs = now() + SEALED_MS;
  for (;;) {
    const rows = await query<{ row: string }>(
      `select 'the token ' || id as row from vault_tokens
        where sealed is not null and (key_id <> $1 or ${KEY_OF("sealed")} <> $1)
        union all
       select 'a signing secret ' || id from (select id, secret from signing_secrets
                                               union all select id, secret from message_signing_keys) s
        where not starts_with(secret, 'sealed:' || $1 || ':')
        union all
       select 'an alert channel ' || id from alert_channels where sealed is not null and ${KEY_OF("sealed")} <> $1
        union all
       select 'the callback of task ' || id from tasks where callback_sealed is not null and ${KEY_OF("callback_sealed")} <> $1`,
      [NEWEST_KEY_ID],
    );
    if (rows.length === 0 || now() > untilMs) return rows.map(({ row }) => row);
    await sleep(500);
  }
}

/** As vault/cipher.ts writes it: a byte for the version, one for the length of the key's id, and the id. */
function KEY_OF(column: string): string {
  return `encode(substring(${column} from 3 for get_byte(${column}, 1)), 'escape')`;
}
