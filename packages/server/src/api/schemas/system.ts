import { type Static, Type } from "typebox";
import { NODE_ROLES } from "../../domain/node-role.ts";
import { LEASE_STATES } from "../../domain/node-status.ts";
import { instant, model, oneOf, ref } from "./field.ts";

export const SystemNode = model("SystemNode", "One process of Bellhop.", {
  name: Type.String({ description: "Its machine and process.", examples: ["web-1:4711"] }),
  role: oneOf(NODE_ROLES, { description: "`api` serves requests, `worker` makes calls, `all` does both." }),
  version: Type.String({ examples: ["0.1.0"] }),
  startedAt: instant("When it started."),
  lagMs: Type.Number({
    description: "Age of the last heartbeat in milliseconds; a healthy node sends one every 4 s.",
  }),
  lease: oneOf(LEASE_STATES, {
    description:
      "Its right to make calls: `held`; `expired`, not renewed in time; `lost`, its tasks were released; `none` " +
      "for an `api` node.",
  }),
  slots: Type.Integer({ description: "Slots that it holds, over all queues." }),
  callsInFlight: Type.Integer({ description: "Calls in flight." }),
  maxInFlight: Type.Integer({ description: "Maximum number of calls in flight." }),
  clockOffsetMs: Type.Number({
    description: "The offset of its clock from the database's, in milliseconds.",
  }),
  loopLagMs: Type.Number({
    description: "The longest delay of its event loop between its last two heartbeats, in milliseconds.",
  }),
});

export const SystemState = model("SystemState", "The nodes and their database.", {
  nodes: Type.Array(ref(SystemNode), {
    description: "In the order of their start. A crashed node is listed for an hour.",
  }),
  database: Type.Object({
    version: Type.String({ description: "The version of PostgreSQL.", examples: ["17.5"] }),
    schema: Type.Integer({ description: "The version of Bellhop's schema." }),
    embedded: Type.Boolean({ description: "Whether it is the embedded PostgreSQL." }),
    sizeBytes: Type.Number({ description: "Its size." }),
    connections: Type.Integer({ description: "Open connections to it." }),
    maxConnections: Type.Integer({ description: "Maximum connections to its server, over all databases." }),
    disk: Type.Union(
      [
        Type.Object({
          freeBytes: Type.Number({
            description: "Free space; with `BELLHOP_DATABASE_LIMIT`, what is left of it.",
          }),
          usedPercent: Type.Number({ description: "The used part." }),
        }),
        Type.Null(),
      ],
      { description: "Its disk, if embedded, or its limit; null if neither is known." },
    ),
  }),
  events: Type.Object({
    behindSeconds: Type.Number({
      description:
        "For how long an open transaction has held back event streams and webhooks; 0 if none has for a second.",
    }),
    holder: Type.Union(
      [
        Type.Object({
          application: Type.String({
            description: "The name that its program gave PostgreSQL; of a prepared transaction its own name.",
            examples: ["psql"],
          }),
          user: Type.String({ description: "The role that it signed in with.", examples: ["postgres"] }),
          pid: Type.Unsafe<number | null>({
            type: ["integer", "null"],
            description: "The process of PostgreSQL; null for a prepared transaction.",
          }),
          state: Type.Unsafe<string | null>({
            type: ["string", "null"],
            description: "As in `pg_stat_activity`, or `prepared`; null if Bellhop's role may not see it.",
            examples: ["idle in transaction"],
          }),
          since: instant("When it began; when it was first seen if Bellhop's role may not see that."),
        }),
        Type.Null(),
      ],
      { description: "The transaction that has held them back for longest; null if none has for a second." },
    ),
  }),
});
export type SystemState = Static<typeof SystemState>;
