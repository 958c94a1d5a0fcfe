import type { preValidationHookHandler } from "fastify";
import type { TProperties } from "typebox";
import { invalid, MOST_DETAILS, mustBe, notBoth } from "../../domain/complaint.ts";
import type { Problem } from "../../domain/problem.ts";
import { closestName } from "../../domain/spelling.ts";
import { dropNulls, mayHoldNulls } from "../http/absent-fields.ts";
import { itemsOf } from "../http/rule-text.ts";
import { unknownField } from "../http/validation.ts";
import { DEDUPE_NAMES } from "../schemas/dedupe.ts";
import { OwnPollConfig } from "../schemas/poll-config.ts";
import { SIMULATION_NAMES } from "../schemas/simulation.ts";
import { TASK_FIELDS } from "./task-fields.ts";
import { CreateDirectTask, CreateTask } from "./task-models.ts";

/** Checks of a new task's body before its schema validation. */

/**
 * `null` means "not given": an optional field is left out, a required one is missing. Only fields that are known: a misspelt
 * one must not disappear.
 */
function dropTaskNulls(body: unknown): Problem | null {
  if (!isRecord(body)) return null;
  if (body.targetUrl === null && body.webhook_url === undefined)
    return invalid([{ field: "targetUrl", error: "targetUrl is required" }]);
  dropNulls(body, FIELD_NAMES);
  for (const name of POLL_NAMES) dropNulls(memberOf(body, name), POLL_FIELD_NAMES);
  dropNulls(memberOf(body, "simulate"), SIMULATION_NAMES);
  dropNulls(memberOf(body, "dedupe"), DEDUPE_NAMES);
  return null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Otherwise the rules of one shape would report the other's field as unknown. */
function refuseTwoKinds(body: unknown): Problem | null {
  const hasBoth = isRecord(body) && Object.hasOwn(body, "webhook_url") && Object.hasOwn(body, "targetUrl");
  return hasBoth ? invalid([notBoth("webhook_url", "targetUrl")]) : null;
}

/**
 * A body without a URL is a queue task by the rule, and its caller would be told that `body` is unknown. Where it has names of
 * direct tasks alone, or one that can only mean `targetUrl`, the URL is what is missing.
 */
function refuseDirectWithoutUrl(body: unknown, helpsSpelling: boolean): Problem | null {
  if (!isRecord(body) || Object.hasOwn(body, "webhook_url") || Object.hasOwn(body, "targetUrl")) return null;
  if (Array.isArray(body)) return null;
  const names = Object.keys(body);
  const isDirect = names.some(
    (name) => DIRECT_ONLY.has(name) || (helpsSpelling && meansUrl(name) === "targetUrl"),
  );
  const isQueue = names.some(
    (name) => QUEUE_ONLY.has(name) || (helpsSpelling && meansUrl(name) === "webhook_url"),
  );
  if (!isDirect || isQueue) return null;
  const unknown = names.filter((name) => !Object.hasOwn(CreateDirectTask.properties, name));
  return invalid([
    ...unknown
      .slice(0, MOST_DETAILS)
      .map((name) => unknownField(name, helpsSpelling ? CreateDirectTask : undefined)),
    { field: "targetUrl", error: "targetUrl is required" },
  ]);
}

/** Ajv collects an error for every invalid list item, and half a million of them would block all other callers. */
function refuseLongLists(body: unknown): Problem | null {
  let problem = longListIn(body, LISTS);
  for (const name of POLL_NAMES) problem ??= longListIn(memberOf(body, name), POLL_LISTS, name);
  return problem;
}

/** To be asked of a new task before its schema; takes out of it what is null, where there may be such a thing. */
export function prepareTaskBody(body: unknown, holdsNulls: boolean, helpsSpelling = true): Problem | null {
  return (
    (holdsNulls ? dropTaskNulls(body) : null) ??
    refuseTwoKinds(body) ??
    refuseDirectWithoutUrl(body, helpsSpelling) ??
    refuseLongLists(body)
  );
}

/** The first field of a task that no task of its kind has; undefined if there is none. */
export function unknownTaskField(
  body: unknown,
): { readonly name: string; readonly schema: object } | undefined {
  if (!isRecord(body) || Array.isArray(body)) return undefined;
  const schema = Object.hasOwn(body, "targetUrl") ? CreateDirectTask : CreateTask;
  for (const name in body) if (!Object.hasOwn(schema.properties, name)) return { name, schema };
  return undefined;
}

export const prepareBody: preValidationHookHandler = (request, _reply, done) => {
  done(prepareTaskBody(request.body, mayHoldNulls(request)) ?? undefined);
};

type Lists = readonly (readonly [name: string, most: number, items: string])[];

const FIELDS = { ...CreateTask.properties, ...CreateDirectTask.properties };
const FIELD_NAMES = Object.keys(FIELDS);
const QUEUE_ONLY = namesOf(CreateTask.properties, CreateDirectTask.properties);
const DIRECT_ONLY = namesOf(CreateDirectTask.properties, CreateTask.properties);
const POLL_NAMES = TASK_FIELDS.pollConfig.names;
const POLL_FIELD_NAMES = Object.keys(OwnPollConfig.properties);
const POLL_LISTS = listsIn(OwnPollConfig.properties);
const LISTS = listsIn(FIELDS);

function namesOf(own: TProperties, others: TProperties): ReadonlySet<string> {
  return new Set(Object.keys(own).filter((name) => !Object.hasOwn(others, name)));
}

/** The URL of either kind that a misspelt name is closest to. */
function meansUrl(name: string): string | undefined {
  return Object.hasOwn(FIELDS, name) ? undefined : closestName(name, ["targetUrl", "webhook_url"]);
}

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

/** `name` is a field of ours: nothing inherits one. */
function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}
