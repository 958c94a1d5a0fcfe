import { Type } from "typebox";
import { PROBLEM_CODES, PROBLEMS, type ProblemCode } from "../../domain/problem.ts";
import { model, oneOf } from "./field.ts";

export const ErrorBody = model(
  "Error",
  "Every answer that is not a success.",
  {
    error: Type.String({ description: "What was refused and why, for people." }),
    code: oneOf(PROBLEM_CODES, { description: "The error code, for programs. More may be added." }),
    details: Type.Optional(
      Type.Array(Type.Object({ field: Type.String(), error: Type.String() }), {
        description: "Every invalid field, if there are several; `error` describes the first.",
      }),
    ),
  },
  {
    examples: [{ error: "Task not found", code: "task_not_found" }],
  },
);

/** What any authenticated route may answer: each refuses parameters that it does not know. */
const ALWAYS = [
  "invalid",
  "api_key_required",
  "api_key_invalid",
  "token_invalid",
  "scope_missing",
  "role_missing",
  "test_key_refused",
  "rate_limited",
  "database_away",
  "overloaded",
  "stopping",
  "headers_too_large",
] as const;

interface ErrorResponse {
  readonly description: string;
  readonly content: { readonly "application/json": { readonly schema: { readonly $ref: string } } };
}

/** The error responses of an authenticated route. */
export function refusals(...codes: readonly ProblemCode[]): Record<number, ErrorResponse> {
  return describeRefusals([...ALWAYS, ...codes]);
}

/** The error responses of a route that asks for no credential. */
export function openRefusals(...codes: readonly ProblemCode[]): Record<number, ErrorResponse> {
  return describeRefusals(["invalid", "rate_limited", "stopping", "headers_too_large", ...codes]);
}

/** The error responses that no route gives, and every route may have. */
export const serverRefusals: Readonly<Record<number, ErrorResponse>> = describeRefusals([
  "headers_too_large",
]);

/** Written from the registry of problems: one per status, with all its texts. */
function describeRefusals(codes: readonly ProblemCode[]): Record<number, ErrorResponse> {
  const texts = new Map<number, string[]>();
  for (const code of new Set(codes)) {
    const { status, text } = PROBLEMS[code];
    const said = code === "invalid" ? "a field breaks its rule" : text;
    texts.set(status, [...(texts.get(status) ?? []), `\`${code}\`: ${said}`]);
  }
  return Object.fromEntries(
    [...texts].map(([status, lines]) => [
      status,
      {
        description: lines.join(" · "),
        content: { "application/json": { schema: { $ref: `${ErrorBody.$id}#` } } },
      },
    ]),
  );
}

/** What any route with a JSON body may answer besides. */
export const BODY_REFUSALS = [
  "body_not_json",
  "body_not_object",
  "body_too_large",
  "body_bounds",
  "body_not_read",
  "bodies_waiting",
  "body_not_typed",
  "body_coding_unknown",
  "body_not_decoded",
] as const satisfies readonly ProblemCode[];
