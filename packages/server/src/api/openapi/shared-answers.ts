import { PROBLEMS } from "../../domain/problem.ts";
import { ErrorBody } from "../schemas/error.ts";
import { OAuthError } from "../schemas/oauth.ts";
import { headersOf } from "./response-headers.ts";

/** Names that clients see: they do not change with what a version of Node calls a status. */
const STATUS_NAMES: Readonly<Record<string, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  413: "ContentTooLarge",
  415: "UnsupportedMediaType",
  429: "TooManyRequests",
  431: "HeadersTooLarge",
  503: "Unavailable",
};

interface Answer {
  readonly description: string;
  readonly content?: unknown;
}

interface Operation {
  readonly operationId?: string;
  readonly security?: readonly object[];
  readonly responses: Record<string, Answer>;
}

/**
 * Gives every answer in the document its headers, and puts errors under `components/responses`: an operation then only
 * points there, with the codes of its own. Returns those components.
 */
export function shareAnswers(paths: object): Record<string, object> {
  const shared = new Map<string, object>();
  for (const operation of operationsOf(paths)) {
    const { responses, operationId = "" } = operation;
    const limited = isLimited(operation);
    for (const [status, answer] of Object.entries(responses)) {
      const { description, content } = answer;
      const name = nameOf(status, content);
      if (name === null) {
        // trusted keys: statuses of the document.
        responses[status] = {
          ...answer,
          ...{ headers: headersOf(status, { limited, operation: operationId }) },
        };
        continue;
      }
      const isOAuth = name.startsWith("OAuth");
      shared.set(name, {
        description: isOAuth ? "A refusal in the words of RFC 6749." : codesOf(status),
        headers: headersOf(status, { limited: !isOAuth }),
        content,
      });
      // trusted keys: statuses of the document.
      responses[status] = { ...{ $ref: `#/components/responses/${name}` }, description };
    }
  }
  return Object.fromEntries([...shared].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function operationsOf(paths: object): Operation[] {
  return Object.values(paths).flatMap((item: object) => Object.values(item).filter(isOperation));
}

function isOperation(value: unknown): value is Operation {
  return typeof value === "object" && value !== null && "responses" in value;
}

/** Behind the hook that counts the requests of a team: not where no credential is asked for, nor an application's secret. */
function isLimited({ security }: Operation): boolean {
  return security === undefined || security.some((requirement) => "session" in requirement);
}

/** Null for what is no error, or a page. */
function nameOf(status: string, content: unknown): string | null {
  const schema = JSON.stringify(content) ?? "";
  const name = STATUS_NAMES[status] ?? null;
  if (schema.includes(`schemas/${ErrorBody.$id}"`)) return name;
  return name !== null && schema.includes(`schemas/${OAuthError.$id}"`) ? `OAuth${name}` : null;
}

function codesOf(status: string): string {
  const codes = Object.entries(PROBLEMS).filter(([, problem]) => String(problem.status) === status);
  return `With the code ${codes.map(([code]) => `\`${code}\``).join(" or ")}.`;
}
