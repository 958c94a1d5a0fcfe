import type { Static } from "typebox";
import type { RefuseUrl } from "../../domain/call.ts";
import { invalid, notBoth } from "../../domain/complaint.ts";
import type { ExtractedPayloads } from "../../domain/json/outline.ts";
import type { Shape } from "../../domain/task.ts";
import { CORRECTABLE, CORRECTION_NAMES, type Correction } from "../../domain/task-correction.ts";
import type { RetryTask } from "./task-models.ts";
import { payloadText } from "./task-reader.ts";

/** The corrected parts of a call, in the names of either kind of task; null if there are none. */
export function readCorrection(
  said: Static<typeof RetryTask>,
  context: {
    readonly bodyText: string;
    readonly extracted: ExtractedPayloads | null;
    readonly refuseUrl: RefuseUrl;
  },
): Correction | null {
  const isGiven = (shape: Shape) => (field: (typeof CORRECTABLE)[number]) =>
    Object.hasOwn(said, CORRECTION_NAMES[shape][field]);
  const queue = CORRECTABLE.filter(isGiven("queue"));
  const direct = CORRECTABLE.filter(isGiven("direct"));
  const fields = CORRECTABLE.filter((field) => queue.includes(field) || direct.includes(field));
  if (fields.length === 0) return null;
  const [queueOnly] = queue.filter((field) => !direct.includes(field));
  const [directOnly] = direct.filter((field) => !queue.includes(field));
  if (said.payload !== undefined && said.body !== undefined) throw invalid([notBoth("payload", "body")]);
  if (queueOnly !== undefined && directOnly !== undefined)
    throw invalid([notBoth(CORRECTION_NAMES.queue[queueOnly], CORRECTION_NAMES.direct[directOnly])]);
  const { headers } = said;
  const url = said.webhook_url ?? said.targetUrl;
  const body = bodyOf(said, { text: context.bodyText, extracted: context.extracted });
  return {
    fields,
    shape: queueOnly !== undefined ? "queue" : directOnly !== undefined ? "direct" : null,
    refuseUrl: context.refuseUrl,
    ...(headers !== undefined && { headers }),
    ...(url !== undefined && { url }),
    ...(body !== undefined && { body }),
  };
}

function bodyOf(
  said: Static<typeof RetryTask>,
  source: { readonly text: string; readonly extracted: ExtractedPayloads | null },
): Correction["body"] {
  if (said.payload !== undefined) return { text: payloadText(source, "payload") ?? "{}", isJson: true };
  if (said.body === undefined) return undefined;
  if (typeof said.body === "string") return { text: said.body, isJson: false };
  return { text: payloadText(source, "body") ?? "", isJson: true };
}
