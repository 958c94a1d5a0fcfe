import type { Call } from "../domain/call.ts";
import type { Claim } from "../domain/claim.ts";
import type { Limits } from "../domain/limits.ts";
import type { Message } from "../domain/message.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { NewTask } from "../domain/task.ts";
import { judge, type Trial, type Verdict } from "../domain/verdict.ts";
import type { ReturnedMessage } from "../store/tasks/returned-messages.ts";
import type { HasRoom } from "./fit-result.ts";

type Headers = Readonly<Record<string, string>>;

/** How the attempts of messages differ from those of other tasks. The QStash-compatible API implements it. */
export interface MessageCalls {
  /** Bellhop's own headers and those of messages, with the signature. */
  headersOf(claim: Claim, message: Message, publicId: string): Headers | Promise<Headers>;
  /** The verdict by the rules of messages, from the usual one. */
  judge(trial: Trial, message: Message, outcome: Outcome, usual: Verdict, now: Date): Verdict;
  /**
   * The callbacks to create with the settlement of this attempt, by whether the message has failed by it; null for none. A
   * retry fails if the queue was deleted meanwhile, which only the settlement knows.
   */
  followersOf(
    claim: Claim,
    message: Message,
    outcome: Outcome,
    verdict: Verdict,
    hasRoom: HasRoomFor,
  ): ((hasFailed: boolean) => readonly NewTask[]) | null;
  /** The failure callback of a message that no attempt ended. */
  failureOf(message: ReturnedMessage, hasRoom: HasRoomFor): NewTask;
}

/** Whether the team may store so many bytes. */
export type HasRoomFor = (bytes: number) => boolean;

export const NO_MESSAGES: MessageCalls = {
  headersOf: () => ({}),
  judge: (_trial, _message, _outcome, usual) => usual,
  followersOf: () => null,
  failureOf: () => {
    throw new Error("There are no messages");
  },
};

/** The call with its bytes, if its body is stored as base64. */
export function bytesOf(call: Call, { base64 }: Message): Call {
  return base64 === true && call.body !== null ? { ...call, bytes: Buffer.from(call.body, "base64") } : call;
}

export function judgeMessage(
  messages: MessageCalls,
  claim: Claim,
  outcome: Outcome,
  now: Date,
  random: number,
): Verdict {
  const usual = judge(claim, outcome, now, random);
  return claim.message === null ? usual : messages.judge(claim, claim.message, outcome, usual, now);
}

export interface Storage {
  readonly limitsOf: (teamId: number) => Limits;
  readonly hasRoom?: HasRoom | undefined;
}

/** Whether so many bytes of a callback may be stored. At the team's limit it is created too, with less of its text. */
export function roomOf({ limitsOf, hasRoom }: Storage, teamId: number): HasRoomFor {
  const most = limitsOf(teamId).bytesStored;
  return (bytes) => most === null || hasRoom === undefined || hasRoom(teamId, most, bytes);
}

export function followersOf(
  messages: MessageCalls,
  storage: Storage,
  claim: Claim,
  outcome: Outcome,
  verdict: Verdict,
): ((hasFailed: boolean) => readonly NewTask[]) | null {
  const { message, teamId } = claim;
  if (message === null) return null;
  return messages.followersOf(claim, message, outcome, verdict, roomOf(storage, teamId));
}
