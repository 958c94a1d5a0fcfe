/**
 * All error answers of the API, from which the reference is generated. Programs depend on the codes, so a released one
 * never changes. `<name>` in a text is replaced by a parameter.
 */
export const PROBLEMS = {
  api_key_required: { status: 401, text: "API key required" },
  api_key_invalid: { status: 401, text: "Invalid or revoked API key" },
  token_invalid: { status: 401, text: "Invalid or expired token" },
  metrics_token_unset: {
    status: 401,
    text: "Metrics of a server that others can reach need a token: set BELLHOP_METRICS_TOKEN",
  },
  metrics_token_invalid: {
    status: 401,
    text: "Metrics of this server need its token: send BELLHOP_METRICS_TOKEN as Authorization: Bearer",
  },
  scope_missing: { status: 403, text: "Insufficient scope: <scope> required" },
  role_missing: { status: 403, text: "Insufficient role: <role> required" },
  test_key_refused: { status: 403, text: "Not available to test keys" },
  live_refused: { status: 403, text: "Only available to test keys" },
  session_required: { status: 403, text: "Session required: sign in by magic link" },
  session_bound: {
    status: 403,
    text: "This session was opened by an invitation: sign in by magic link to go to another team",
  },
  form_foreign: { status: 403, text: "This form did not come from a page of Bellhop" },
  not_found: { status: 404, text: "Not found" },
  method_not_allowed: { status: 405, text: "Method not allowed" },
  body_not_json: { status: 400, text: "Request body is not valid JSON" },
  body_not_object: { status: 400, text: "Request body must be a JSON object" },
  body_bounds: { status: 400, text: "Request body <reason>" },
  body_not_read: { status: 503, text: "Request body took too long to be read: send less at once" },
  bodies_waiting: { status: 429, text: "Too many large request bodies are waiting to be read" },
  body_not_typed: { status: 415, text: "Content-Type must be application/json" },
  body_too_large: { status: 413, text: "Request body too large" },
  body_coding_unknown: { status: 415, text: "Content-Encoding must be gzip, deflate or br" },
  body_not_decoded: { status: 400, text: "Request body is not valid <coding>" },
  url_malformed: { status: 400, text: "Request URL is not valid" },
  request_malformed: { status: 400, text: "Request is not valid HTTP" },
  request_timeout: { status: 408, text: "Request took too long to arrive" },
  headers_too_large: { status: 431, text: "Request headers too large" },
  invalid: { status: 400, text: "<reason>" },
  cursor_foreign: { status: 400, text: "Cursor belongs to another search" },
  batch_refused: { status: 400, text: "tasks[<index>]: <reason>" },
  vault_token_unknown: { status: 400, text: 'Header "<header>" references unknown vault token "<token>"' },
  provider_unknown: { status: 400, text: 'Unknown provider "<id>"' },
  idempotency_conflict: { status: 409, text: 'Idempotency key "<key>" was used with another request' },
  dedupe_conflict: {
    status: 409,
    text: 'Dedupe key "<key>" is taken by a task with another <what>: <value>',
  },
  callback_unknown: { status: 404, text: "Invalid or expired callback ID" },
  callback_not_awaited: { status: 409, text: "Task is not in waiting/polling state (current: <status>)" },
  rate_limited: { status: 429, text: "Rate limit exceeded" },
  test_mails_limited: {
    status: 429,
    text: "A member receives at most <most> test mails of alerts in <minutes> minutes",
  },
  too_many_waiting: { status: 429, text: "Too many requests are waiting for tasks to end" },
  too_many_streams: { status: 429, text: "Too many event streams are open" },
  streams_full: {
    status: 429,
    text: "The plan <plan> allows at most <most> open event streams on a node (eventStreams): close one first",
  },
  task_not_found: { status: 404, text: "Task not found" },
  task_ended: { status: 409, text: "Task has already ended (current: <status>)" },
  task_not_retryable: { status: 409, text: "Task is not in failed/cancelled state (current: <status>)" },
  task_queue_gone: { status: 409, text: 'Task cannot be retried: its queue "<name>" was deleted' },
  task_not_failed: { status: 409, text: "Task is not in failed state (current: <status>)" },
  task_not_ended: { status: 409, text: "Task has not ended (current: <status>)" },
  notification_unset: {
    status: 409,
    text: "Task has no <field>: there is no notification to send again",
  },
  notification_pending: {
    status: 409,
    text: "Notification is still being delivered (next try: <time>)",
  },
  task_not_pending: { status: 409, text: "Task is not pending (current: <status>)" },
  bulk_not_found: { status: 404, text: "Bulk action not found" },
  bulk_ended: { status: 409, text: "Bulk action has already ended (current: <status>)" },
  bulks_full: {
    status: 409,
    text: "A team can have at most <limit> bulk actions running: wait, or stop one first",
  },
  too_many_scans: {
    status: 429,
    text: "Too many searches of the team wait for their turn: try again later",
  },
  queue_not_found: { status: 404, text: 'Queue "<name>" not found' },
  queue_exists: { status: 409, text: 'Queue "<name>" already exists' },
  queue_default_kept: { status: 409, text: 'Queue "default" cannot be deleted' },
  schedule_not_found: { status: 404, text: 'Schedule "<name>" not found' },
  schedule_exists: { status: 409, text: 'Schedule "<name>" already exists' },
  message_not_found: { status: 404, text: "Message not found" },
  url_group_not_found: { status: 404, text: 'URL group "<name>" not found' },
  url_group_used: {
    status: 412,
    text: 'URL group "<name>" is used by a schedule: delete the schedule first',
  },
  list_too_large: {
    status: 413,
    text: "This list has more than 1 MiB or 1,000 entries: read its entries one by one, or by pages from <other>",
  },
  webhook_not_found: { status: 404, text: "Webhook not found" },
  webhook_off: { status: 409, text: "Webhook is turned off: enable it first" },
  delivery_not_found: { status: 404, text: "Delivery not found" },
  delivery_pending: { status: 409, text: "Delivery is still under way" },
  webhooks_full: { status: 409, text: "A team can have at most <limit> webhooks: delete one first" },
  alert_not_found: { status: 404, text: "Alert not found" },
  alerts_full: { status: 409, text: "A team can have at most <limit> alerts: delete one first" },
  limit_reached: { status: 403, text: "The plan <plan> allows at most <most> <unit> (<name>)" },
  breaker_not_found: { status: 404, text: 'No circuit breaker for "<host>" is open' },
  flow_not_found: { status: 404, text: 'Flow "<key>" not found' },
  flow_backlog_full: {
    status: 429,
    text: 'Flow "<key>" has as many waiting tasks as its max_waiting allows, try again later',
  },
  flows_full: {
    status: 429,
    text: "The plan <plan> allows at most <most> flows with open tasks (flowsOpen)",
  },
  tasks_full: {
    status: 429,
    text: "The plan <plan> allows at most <most> tasks that have not ended (tasksOpen)",
  },
  team_limit: { status: 409, text: "A person can own at most <most> teams on the free plan" },
  session_not_found: { status: 404, text: "Session not found or already ended" },
  team_not_found: { status: 404, text: "Team not found" },
  member_not_found: { status: 404, text: "Member not found" },
  member_exists: { status: 409, text: "<email> is a member already" },
  last_owner: { status: 409, text: "The last owner cannot leave the team" },
  invitation_not_found: { status: 404, text: "Invitation not found or already used" },
  overloaded: { status: 503, text: "Too many requests are waiting to be stored, try again shortly" },
  crowded: { status: 503, text: "Too many open connections, try again shortly" },
  database_away: { status: 503, text: "The database cannot be reached, try again shortly" },
  space_low: {
    status: 503,
    text: "The server's disk is nearly full, new tasks are not accepted: try again later",
  },
  stopping: { status: 503, text: "The server is stopping" },
  api_key_not_found: { status: 404, text: "API key not found or already revoked" },
  api_keys_full: { status: 409, text: "A team can have at most <limit> active API keys: revoke one first" },
  application_not_found: { status: 404, text: "Application not found" },
  applications_full: { status: 409, text: "A team can have at most <limit> applications: delete one first" },
  authorization_not_found: { status: 404, text: "Authorization not found or already ended" },
  vault_off: { status: 503, text: "Token vault is not configured" },
  vault_token_not_found: { status: 404, text: "Token not found or already revoked" },
  vault_token_inside: {
    status: 400,
    text:
      'Header "<header>" has vault token "<token>" inside of other text, which would be sent as it is: store the whole ' +
      "value of the header in the vault, and give nothing but the token's id",
  },
  vault_token_host: {
    status: 400,
    text: 'Header "<header>" references vault token "<token>", which may not be sent to "<host>"',
  },
  /** The answer for a bug. */
  internal: { status: 500, text: "Internal server error" },
} as const satisfies Record<string, { status: number; text: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

export const PROBLEM_CODES = Object.keys(PROBLEMS) as readonly ProblemCode[];

export interface ProblemDetail {
  readonly field: string;
  readonly error: string;
}

/** An expected refusal. Any other thrown error is a bug. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly details: readonly ProblemDetail[];
  /** Sent as `Retry-After` if a retry makes sense. */
  readonly retryAfterSeconds: number | null;

  constructor(
    code: ProblemCode,
    parameters: Readonly<Record<string, string>> = {},
    options: { details?: readonly ProblemDetail[]; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    const { status, text } = PROBLEMS[code];
    super(
      text.replace(/<(\w+)>/g, (whole, name: string) => parameters[name] ?? whole),
      { cause: options.cause },
    );
    this.name = "Problem";
    this.code = code;
    this.status = status;
    this.details = options.details ?? [];
    // Waiting does not configure a vault.
    const passes = status === 503 && code !== "vault_off";
    this.retryAfterSeconds = options.retryAfterSeconds ?? (passes ? 1 : null);
  }
}

/** Too many requests; the next fits after this many seconds. */
export function rateLimited(retryAfterSeconds: number): Problem {
  return new Problem("rate_limited", {}, { retryAfterSeconds });
}
