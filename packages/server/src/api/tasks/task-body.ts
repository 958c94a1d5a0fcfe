import type { preValidationHookHandler } from "fastify";
import type { TSchema } from "typebox";
import { invalid, mustBe, notBoth } from "../../domain/complaint.ts";
import type { Problem } from "../../domain/problem.ts";
import { OwnPollConfig } from "../schemas/poll-config.ts";
import { CreateDirectTask, CreateTask } from "./task-models.ts";

/** What is wrong with the body of a new task before its fields are judged by their schemas. */

/**
 * `null` means "not given": an optional field is left out, a required one is missing. Only fields that are known: a misspelt
 * one must not disappear.
 */
export const dropNulls: preValidationHookHandler = ({ body }, _reply, done) => {
  if (!isRecord(body)) return done();
  if (body.targetUrl === null && body.webhook_url === undefined)
    return done(invalid([{ field: "targetUrl", error: "targetUrl is required" }]));
  for (const name in body) {
    if (body[name] === null && KNOWN.has(name)) delete body[name];
  }
  for (const name of POLL_FIELDS) {
    const config = body[name];
    if (!isRecord(config)) continue;
    for (const part in config) {
      if (config[part] === null && Object.hasOwn(OwnPollConfig.properties, part)) delete config[part];
    }
  }
  done();
};

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** By the rules of either kind the other's field would only be an unknown one. */
export const refuseTwoKinds: preValidationHookHandler = ({ body }, _reply, done) => {
  const hasBoth = isRecord(body) && Object.hasOwn(body, "webhook_url") && Object.hasOwn(body, "targetUrl");
  done(hasBoth ? invalid([notBoth("webhook_url", "targetUrl")]) : undefined);
};

/** Ajv collects an error for every wrong item of a list, and half a million of them keep all other callers waiting. */
export const refuseLongLists: preValidationHookHandler = ({ body }, _reply, done) => {
  done(longListIn(body, LISTS) ?? undefined);
};

interface List {
  readonly name: string;
  /** How many it may hold; null for an object with lists inside. */
  readonly most: number | null;
}

const FIELDS = { ...CreateTask.properties, ...CreateDirectTask.properties };
const KNOWN: ReadonlySet<string> = new Set(Object.keys(FIELDS));
const POLL_FIELDS = ["poll_config", "pollConfig"];
const LISTS = listsIn(FIELDS);
const POLL_LISTS = listsIn(OwnPollConfig.properties);

function listsIn(properties: Readonly<Record<string, TSchema>>): List[] {
  return Object.entries(properties).flatMap(([name, schema]): List[] => {
    if ("$ref" in schema && schema.$ref === `${OwnPollConfig.$id}#`) return [{ name, most: null }];
    return "maxItems" in schema ? [{ name, most: Number(schema.maxItems) }] : [];
  });
}

function longListIn(body: unknown, lists: readonly List[], within?: string): Problem | null {
  if (typeof body !== "object" || body === null) return null;
  for (const { name, most } of lists) {
    const value: unknown = Object.getOwnPropertyDescriptor(body, name)?.value;
    if (value === undefined) continue;
    const found = most === null ? longListIn(value, POLL_LISTS, name) : null;
    if (found !== null) return found;
    if (most === null || !Array.isArray(value) || value.length <= most) continue;
    const field = within === undefined ? name : `${within}["${name}"]`;
    return invalid([mustBe(field, `an array of at most ${most} strings`)]);
  }
  return null;
}
