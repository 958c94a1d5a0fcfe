import type { preValidationHookHandler } from "fastify";
import type { TProperties } from "typebox";
import { invalid, mustBe, notBoth } from "../../domain/complaint.ts";
import type { Problem } from "../../domain/problem.ts";
import { dropNulls } from "../http/absent-fields.ts";
import { itemsOf } from "../http/rule-text.ts";
import { OwnPollConfig } from "../schemas/poll-config.ts";
import { TASK_FIELDS } from "./task-fields.ts";
import { CreateDirectTask, CreateTask } from "./task-models.ts";

/** What is wrong with the body of a new task before its fields are judged by their schemas. */

/**
 * `null` means "not given": an optional field is left out, a required one is missing. Only fields that are known: a misspelt
 * one must not disappear.
 */
function dropTaskNulls(body: unknown): Problem | null {
  if (!isRecord(body)) return null;
  if (body.targetUrl === null && body.webhook_url === undefined)
    return invalid([{ field: "targetUrl", error: "targetUrl is required" }]);
  dropNulls(body, Object.keys(FIELDS));
  for (const name of POLL_NAMES) dropNulls(memberOf(body, name), Object.keys(OwnPollConfig.properties));
  return null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** By the rules of either kind the other's field would only be an unknown one. */
function refuseTwoKinds(body: unknown): Problem | null {
  const hasBoth = isRecord(body) && Object.hasOwn(body, "webhook_url") && Object.hasOwn(body, "targetUrl");
  return hasBoth ? invalid([notBoth("webhook_url", "targetUrl")]) : null;
}

/** Ajv collects an error for every wrong item of a list, and half a million of them keep all other callers waiting. */
function refuseLongLists(body: unknown): Problem | null {
  let problem = longListIn(body, LISTS);
  for (const name of POLL_NAMES) problem ??= longListIn(memberOf(body, name), POLL_LISTS, name);
  return problem;
}

/** To be asked of a new task before its schema; takes out of it what is null. */
export function prepareTaskBody(body: unknown): Problem | null {
  return dropTaskNulls(body) ?? refuseTwoKinds(body) ?? refuseLongLists(body);
}

export const prepareBody: preValidationHookHandler = ({ body }, _reply, done) => {
  done(prepareTaskBody(body) ?? undefined);
};

type Lists = readonly (readonly [name: string, most: number, items: string])[];

const FIELDS = { ...CreateTask.properties, ...CreateDirectTask.properties };
const POLL_NAMES = TASK_FIELDS.pollConfig.names;
const POLL_LISTS = listsIn(OwnPollConfig.properties);
const LISTS = listsIn(FIELDS);

function listsIn(properties: TProperties): Lists {
  return Object.entries(properties).flatMap(([name, schema]) =>
    "maxItems" in schema ? [[name, Number(schema.maxItems), itemsOf(schema)] as const] : [],
  );
}

function longListIn(value: unknown, lists: Lists, within?: string): Problem | null {
  for (const [name, most, items] of lists) {
    const list = memberOf(value, name);
    if (!Array.isArray(list) || list.length <= most) continue;
    const field = within === undefined ? name : `${within}["${name}"]`;
    return invalid([mustBe(field, `an array of at most ${most} ${items}`)]);
  }
  return null;
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}
