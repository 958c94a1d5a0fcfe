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
    description: "How long ago it was heard of, in milliseconds: every 4 s while it is well.",
  }),
  lease: oneOf(LEASE_STATES, {
    description:
      "Its right to make calls: `held`; `expired`, not renewed in time; `lost`, what it held was given back; `none`, an " +
      "`api` node has no use for one.",
  }),
  slots: Type.Integer({ description: "Slots that it holds, over all queues." }),
  callsInFlight: Type.Integer({ description: "Calls of tasks under way." }),
  maxInFlight: Type.Integer({ description: "Calls that it has under way at most." }),
  clockOffsetMs: Type.Number({
    description: "How far its clock is ahead of the database's, in milliseconds.",
  }),
});

export const SystemState = model("SystemState", "The nodes and their database.", {
  nodes: Type.Array(ref(SystemNode), {
    description: "The one that started first at the top. One that died is listed for an hour.",
  }),
  database: Type.Object({
    version: Type.String({ description: "Of PostgreSQL.", examples: ["17.5"] }),
    schema: Type.Integer({ description: "The number of Bellhop's schema." }),
    embedded: Type.Boolean({ description: "Whether it is the one that Bellhop runs itself." }),
  }),
});
export type SystemState = Static<typeof SystemState>;
