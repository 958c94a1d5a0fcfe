/** Of every response, by the names that `components/headers` has them under. */
const ALWAYS = ["X-Request-Id"] as const;
const LIMITS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const;
/** Not of these: the credential is not known yet, or the headers that would hold it were not read. */
const BEFORE_LIMITS: ReadonlySet<string> = new Set(["401", "431"]);

const integer = (description: string) => ({ description, schema: { type: "integer" } }) as const;
const text = (description: string) => ({ description, schema: { type: "string" } }) as const;

export const RESPONSE_HEADERS = {
  "X-Request-Id": {
    ...text("Names the request, in the server's log too. The caller's own, if it sent a sane one."),
    required: true,
  },
  "X-RateLimit-Limit": integer("Requests a minute that the team may make. Left out where there is no limit."),
  "X-RateLimit-Remaining": integer("How many are left now."),
  "X-RateLimit-Reset": integer("Unix time in seconds at which the oldest counted request is a minute old."),
  "Retry-After": integer("Seconds after which it makes sense to come back."),
  "WWW-Authenticate": text("How to prove who is calling."),
  "Idempotent-Replayed": text("`true`: an earlier request with this key created the task."),
} as const;
type HeaderName = keyof typeof RESPONSE_HEADERS;

/** What one response of one operation has besides. */
const OWN: Readonly<Record<string, readonly HeaderName[]>> = {
  "createTask 200": ["Idempotent-Replayed"],
};

/** The headers of a response; `limited`: the caller's team is known by then. */
export function headersOf(
  status: string,
  { limited, operation }: { readonly limited: boolean; readonly operation?: string },
): Record<string, { readonly $ref: string }> {
  const names: readonly HeaderName[] = [
    ...ALWAYS,
    ...(limited && !BEFORE_LIMITS.has(status) ? LIMITS : []),
    ...(status === "429" || status === "503" ? (["Retry-After"] as const) : []),
    ...(status === "401" ? (["WWW-Authenticate"] as const) : []),
    ...(OWN[`${operation} ${status}`] ?? []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
