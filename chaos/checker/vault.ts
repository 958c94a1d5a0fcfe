import { RECOVERY_MS } from "./faults.ts";
import type { Answer, History, Seen } from "./history.ts";
import type { Stories } from "./stories.ts";
import type { VaultToken } from "./vault-record.ts";
import type { Violation } from "./violation.ts";

/** The start of each credential. Nothing else contains it. */
export const CANARY = "canary-credential-";
/** The headers of a call that are looked at beside those with a credential or the id of a token. */
export const LITERAL_HEADER = "x-chaos-literal";

/** Target and client are events of one runner: what arrived first may be handled second. */
const EVENT_MS = 20;
/** After its claim, a call may begin with what was read of the vault until then; and with a connection to the database that is lost. */
const CLAIM_MS = 5_000;
const DISCONNECTED_MS = 12_500;

/** Promise G: a credential is in the calls of the tasks that name its token until that is revoked, and nowhere else. */
export function checkVault({ vault, ...history }: History, stories: Stories): Violation[] {
  if (vault === undefined) return [];
  const tokens = new Map(vault.tokens.map((token) => [token.id, token]));
  const tasks = new Map(vault.tasks.map(({ nonce, ...task }) => [nonce, task]));
  const violation = (text: string, taskId: string | null, at: number | null): Violation => {
    return { promise: "G", text, taskId, at };
  };
  const calls = history.seen.flatMap((seen) => {
    const task = seen.kind === "call" ? tasks.get(seen.nonces[0] ?? "") : undefined;
    const token = task && tokens.get(task.tokenId);
    const text =
      wrongHeaders(seen, task && token && [token.value, task.literal]) ?? (token && late(seen, token));
    return text == null ? [] : [violation(text, seen.taskId, seen.begunAt)];
  });

  function late(call: Seen, { revokedAt }: VaultToken): string | null {
    const claim = stories.claimOf(call);
    if (revokedAt === null || claim === null || call.begunAt <= revokedAt + EVENT_MS) return null;
    const text = `attempt ${call.attempt} has a credential ${Math.round(call.begunAt - revokedAt)} ms after its token was revoked`;
    if (claim.committedAt > revokedAt + EVENT_MS) return `${text}, and was claimed after that`;
    const hadFault = history.faults.some(
      ({ from, to }) => from <= call.begunAt && to >= claim.committedAt - RECOVERY_MS,
    );
    const latest = Math.max(claim.committedAt + CLAIM_MS, hadFault ? revokedAt + DISCONNECTED_MS : 0);
    return call.begunAt > latest ? text : null;
  }

  const created = history.answers.filter(({ action, taskId }) => action === "create" && taskId !== null);
  const refused = created.flatMap(({ taskId, carried }: Answer) => {
    const token = tokens.get(tasks.get(carried ?? "")?.tokenId ?? "");
    const { last } = stories.find(taskId ?? "");
    if (token === undefined || last?.status !== "failed") return [];
    const at = last.completedAt ?? history.endedAt;
    const wasRevoked = token.revoking !== null && token.revoking <= at + EVENT_MS;
    if (last.failureReason === "blocked") return [violation("its credential could not be read", taskId, at)];
    return last.failureReason === "token_revoked" && !wasRevoked
      ? [violation("it failed because its token was revoked, and nobody had asked for that", taskId, at)]
      : [];
  });
  return [
    ...calls,
    ...refused,
    ...vault.leaks.map(({ where, at }) => violation(`a credential is in ${where}`, null, at)),
    ...vault.unsealed.map((row) => violation(`the newest key has not sealed ${row}`, null, history.rest.at)),
  ];
}

/** `expected` are the credential and the header beside it; undefined: there may be neither. */
function wrongHeaders(
  { kind, attempt, headers = {} }: Seen,
  expected: readonly [string, string] | undefined,
): string | null {
  const [value, literal] = expected ?? [];
  const should = expected === undefined ? {} : { authorization: value, [LITERAL_HEADER]: literal };
  const names = [...new Set([...Object.keys(headers), ...Object.keys(should)])];
  const wrong = names.find((name) => headers[name] !== (should as Record<string, string>)[name]);
  if (wrong === undefined) return null;
  const what = kind === "call" ? `attempt ${attempt}` : `a ${kind}`;
  return `${what} was sent with ${headers[wrong] ?? "nothing"} as ${wrong}`;
}
