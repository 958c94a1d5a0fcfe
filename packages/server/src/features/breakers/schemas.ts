import { Type } from "typebox";
import { instant, model, oneOf, ref } from "../../api/schemas/field.ts";
import { pagination } from "../../api/schemas/page.ts";
import { QUEUE_READ_PATTERN } from "../../domain/queue.ts";

const EXAMPLE = {
  queue: "emails",
  host: "api.example.com",
  state: "open",
  failures: 20,
  opened_at: "2026-03-01T09:30:00.000Z",
  until: "2026-03-01T09:30:30.000Z",
};

const Breaker = model(
  "Breaker",
  "An open circuit breaker: tasks of the queue to the host wait.",
  {
    queue: Type.String(),
    host: Type.String({ description: "In lower case, with the port where the URL has one." }),
    state: oneOf(["open", "probing"], {
      description:
        "`open`: no call begins until `until`. `probing`: one task is called, or the next one that comes; its answer closes the breaker.",
    }),
    failures: Type.Integer({ description: "The failed attempts that opened it." }),
    opened_at: instant("When it opened."),
    until: instant("When the probe may begin."),
  },
  { examples: [EXAMPLE] },
);

export const BreakerList = model(
  "BreakerList",
  "The open breakers of the team, by queue and host.",
  { breakers: Type.Array(ref(Breaker)), pagination },
  { examples: [{ breakers: [EXAMPLE] }] },
);

export const CloseBreaker = model(
  "CloseBreaker",
  "Which breakers of the host to close.",
  {
    queue: Type.Optional(
      Type.String({ pattern: QUEUE_READ_PATTERN, description: "Only in this queue. Default: in all." }),
    ),
  },
  { additionalProperties: false, examples: [{ queue: "emails" }] },
);

export const ClosedBreakers = model(
  "ClosedBreakers",
  "The queues whose breaker was open and is closed now.",
  { host: Type.String(), closed: Type.Array(Type.String()) },
  { examples: [{ host: EXAMPLE.host, closed: ["emails"] }] },
);

export const BreakerPath = Type.Object({ host: Type.String({ examples: [EXAMPLE.host] }) });
