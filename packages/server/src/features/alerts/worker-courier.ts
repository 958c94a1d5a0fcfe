import { type DeliveryVerdict, givenUp, judgeDelivery } from "../../domain/delivery.ts";
import type { DeliverMail } from "../../domain/identity/mail.ts";
import { UNBOUNDED } from "../../domain/limits.ts";
import { createTeamOrder } from "../../domain/team-order.ts";
import { createBudget, type FindBudgets } from "../../engine/budget.ts";
import type { Log } from "../../engine/log.ts";
import type { Outgoing } from "../../engine/outgoing.ts";
import { LEAN, type RoundCost } from "../../engine/round-cost.ts";
import { isMemberAddress } from "../../store/identity/members.ts";
import type { Sql } from "../../store/sql.ts";
import type { TeamRoom } from "../../store/tasks/due-teams.ts";
import { SealError } from "../../vault/cipher.ts";
import type { Vault } from "../../vault/vault.ts";
import { MESSAGE_WAITS_MS } from "./domain.ts";
import { composeAlertMail, messageName, slackBody } from "./domain-messages.ts";
import {
  claimMessages,
  endMessage,
  type MessageClaim,
  postponeMessage,
  teamsWithDueMessages,
} from "./store-messages.ts";

/** Interval of the search for messages that other nodes stored. */
const LOOK_MS = 5_000;
const TIMEOUT_MS = 30_000;
/** Longer than any delivery: an expired claim belongs to a dead node. */
const CLAIM_SECONDS = 120;
/** In flight on this node. */
const MOST = 50;
/**
 * Of one account, that is of a team, or of all free teams of one person: receivers that do not answer must not take the
 * places of others. The last places are for accounts that have none.
 */
const MOST_OF_ACCOUNT = 10;
export const ALERT_COURIER_COST: RoundCost = { rows: MOST, bytes: MOST * 64 * LEAN, turns: "in turn" };

export interface AlertCourier {
  /** Starts the deliveries that are due. Returns the milliseconds until the next look. */
  workOnce(): Promise<number>;
  /** Resolves once no delivery is in flight. */
  finished(): Promise<void>;
}

/** Sends the messages of alerts. A message is sent at least once, with the same id on every try. */
export function createAlertCourier(deps: {
  readonly sql: Sql;
  readonly outgoing: Outgoing;
  /** Null if the server has no mail server. */
  readonly deliverMail: DeliverMail | null;
  readonly vault: Pick<Vault, "openText">;
  readonly publicUrl: () => string;
  readonly log: Log;
  readonly findBudgets: FindBudgets;
  readonly monotonicMs: () => number;
  /** Looks for due messages again. */
  readonly wake: () => void;
}): AlertCourier {
  const { sql, log } = deps;
  const inFlight = new Map<string, Promise<void>>();
  const order = createTeamOrder();
  const limits = { ...UNBOUNDED, callsInFlight: MOST_OF_ACCOUNT };
  /** Apart from that of calls: an alert about calls that hang must not wait for them. */
  const budget = createBudget({
    find: async (teamIds) => (await deps.findBudgets(teamIds)).map((each) => ({ ...each, limits })),
    nodes: () => 1,
  });
  const pool = budget.openPool(MOST, deps.wake);
  let refreshAtMs = 0;

  async function learn(teamIds: readonly number[]): Promise<void> {
    if (deps.monotonicMs() >= refreshAtMs) refreshAtMs = deps.monotonicMs() + (await budget.refreshOnce());
    await budget.learn(teamIds);
  }

  function takeRooms(teamIds: readonly number[]): TeamRoom[] {
    return order.inTurn(teamIds).flatMap((teamId) => {
      const most = pool.room(teamId);
      if (most <= 0) return [];
      pool.take(teamId, most);
      return { teamId, most };
    });
  }

  async function claim(rooms: readonly TeamRoom[]): Promise<MessageClaim[]> {
    const unused = new Map(rooms.map(({ teamId, most }) => [teamId, most]));
    try {
      const claims = await claimMessages(sql, rooms, CLAIM_SECONDS);
      for (const { teamId } of claims) unused.set(teamId, (unused.get(teamId) ?? 0) - 1);
      order.served(rooms.map(({ teamId }) => teamId));
      return claims;
    } finally {
      for (const [teamId, count] of unused) pool.giveBack(teamId, count);
    }
  }

  async function send(claim: MessageClaim): Promise<DeliveryVerdict> {
    const { kind, body, attempt } = claim;
    switch (kind) {
      case "email":
        return sendMail(claim);
      case "url":
        return judgeDelivery(
          await post(claim, claim.target, JSON.stringify(body)),
          attempt,
          MESSAGE_WAITS_MS,
        );
      case "slack_url": {
        const url = openUrl(claim);
        if (url === null) return givenUp("The URL cannot be read with the server's vault keys");
        return judgeDelivery(await post(claim, url, slackBody(body)), attempt, MESSAGE_WAITS_MS);
      }
    }
  }

  async function sendMail({
    teamId,
    target,
    body,
    attempt,
    messageId,
  }: MessageClaim): Promise<DeliveryVerdict> {
    if (deps.deliverMail === null) return givenUp("The server has no mail server");
    if (!(await isMemberAddress(sql, teamId, target)))
      return givenUp("This address does not belong to a member of the team any more");
    const mail = composeAlertMail(target, body, `${deps.publicUrl()}/alerts`);
    const failure = await deps.deliverMail(mail, messageName(messageId));
    if (failure === null) return { status: "delivered", waitMs: null, responseCode: null, error: null };
    const waitMs = failure.isTemporary ? (MESSAGE_WAITS_MS[attempt - 1] ?? null) : null;
    const error = `The mail was not accepted (${failure.code})`;
    return { status: waitMs === null ? "failed" : "pending", waitMs, responseCode: null, error };
  }

  async function post({ teamId, id, messageId, kind }: MessageClaim, url: string, body: string) {
    const sent = await deps.outgoing.send({
      teamId,
      taskId: id,
      messageId: messageName(messageId),
      call: { method: "POST", url, headers: {}, body },
      headers: { "content-type": "application/json" },
      timeoutMs: TIMEOUT_MS,
      sign: kind === "url",
      callbackSealed: null,
      wipe: null,
      signal: new AbortController().signal,
      mayLeave: () => true,
    });
    return sent.kind === "refused" ? null : sent;
  }

  function openUrl({ teamId, channelId, sealed }: MessageClaim): string | null {
    try {
      return sealed === null ? null : deps.vault.openText("alert", teamId, channelId, sealed);
    } catch (error) {
      if (error instanceof SealError) return null;
      throw error;
    }
  }

  async function deliver(claim: MessageClaim): Promise<void> {
    const { status, waitMs, error, responseCode } = await send(claim);
    if (status === "pending" && waitMs !== null) await postponeMessage(sql, claim, waitMs, error ?? "");
    else await endMessage(sql, claim, error);
    const { body, kind, attempt } = claim;
    log.info(
      { alert: body.alert.id, type: body.type, channel: kind, attempt, status, responseCode, error },
      "alert.sent",
    );
  }

  function start(claim: MessageClaim): void {
    const running = deliver(claim)
      .catch((err: unknown) => log.error({ message: claim.id, err }, "alert.not_sent"))
      .finally(() => {
        inFlight.delete(claim.id);
        pool.giveBack(claim.teamId, 1);
        deps.wake();
      });
    inFlight.set(claim.id, running);
  }

  return {
    async workOnce() {
      const { teamIds, untilNextMs } = await teamsWithDueMessages(sql);
      if (teamIds.length > 0) await learn(teamIds);
      const rooms = takeRooms(teamIds);
      const claims = rooms.length === 0 ? [] : await claim(rooms);
      for (const each of claims) start(each);
      return claims.length > 0 ? 0 : Math.max(0, Math.min(LOOK_MS, untilNextMs ?? LOOK_MS));
    },
    async finished() {
      while (inFlight.size > 0) await Promise.all(inFlight.values());
    },
  };
}
