// Writes docs/errors.md from the registry of problems. WHEN has the cause of each problem, for the page only.

const WHEN = {
  body_not_json: "The body is not JSON, or not UTF-8.",
  body_coding_unknown: "The body has another content coding. `Accept-Encoding` lists the supported ones.",
  body_not_decoded: "The body is not in the content coding that `Content-Encoding` names, or is incomplete.",
  body_not_object: "The body is JSON, but not an object.",
  url_malformed: "The path cannot be decoded, for example because of a stray `%`.",
  request_malformed: "The bytes are not an HTTP request, or the body is incomplete.",
  invalid: "A field is unknown, missing or invalid; the text names the field and the rule. See `details`.",
  vault_token_unknown:
    "A header of the task names a vault token that does not exist, is revoked or is another team's.",
  provider_unknown: "`provider` is not in the catalog.",
  vault_token_inside:
    "A header of the task contains the id of one of the team's vault tokens but does not start with it, as in `Bearer tok_…`.",
  vault_token_host:
    "A header of the task names a vault token whose `allowedHosts` do not include the host of the call.",
  api_key_required: "The request has no credential.",
  api_key_invalid: "The API key is unknown, malformed or revoked.",
  token_invalid: "The session, access token or sign-in link is unknown, expired or revoked.",
  metrics_token_unset: "`/metrics` of an exposed server that has no `BELLHOP_METRICS_TOKEN`.",
  metrics_token_invalid:
    "The request for `/metrics` has no token, or not the server's `BELLHOP_METRICS_TOKEN`.",
  scope_missing: "The application was not granted this scope.",
  role_missing: "The role behind the credential is too low.",
  live_refused: "The endpoint is for test keys, and the request has another credential.",
  test_key_refused:
    "A test key cannot make changes outside of the sandbox, for example to an existing queue, keys or members.",
  session_required: "The endpoint needs a person's session: an API key or an application cannot use it.",
  session_bound: "A session opened by an invitation cannot switch to another team or create one.",
  form_foreign: "A form of Bellhop's pages was submitted from another site.",
  not_found: "The route does not exist.",
  callback_unknown: "The id was never issued, was used, or its task was deleted or waited too long.",
  test_mails_limited:
    "The alert has a mail address among its channels that received five test mails in the last ten minutes.",
  too_many_waiting:
    "The team has 1,000 requests with `wait` open on this node, or the node has 5,000 in all. No task was stored.",
  too_many_streams:
    "The node has 2,000 event streams open, or 1,800 and the team has one of them. Try again after `Retry-After`.",
  streams_full: "The team has the maximum number of event streams of its plan open on this node.",
  task_not_found: "No task of the team has this id.",
  message_not_found:
    "No message of the team has this id, it was not created through `/v2`, or it has ended where an open one is needed.",
  url_group_not_found: "The team has no URL group of this name.",
  list_too_large:
    "`GET /v2/topics`, `/v2/schedules`, `/v2/queues` and `/v2/flowControl` answer a list without pages, which has at most 1 MiB and 1,000 entries.",
  url_group_used: "A URL group cannot be deleted while a schedule publishes to it.",
  queue_not_found: "No queue of the team has this name; also when a task is created for it.",
  session_not_found: "You have no such session, or it has ended.",
  team_not_found: "You are not in such a team.",
  member_not_found: "The team has no such member.",
  invitation_not_found: "There is no such open invitation.",
  api_key_not_found: "The team has no such active key.",
  application_not_found: "The team has no such application.",
  authorization_not_found: "The consent does not exist, is no longer valid, or belongs to another person.",
  vault_token_not_found: "The team has no such active vault token.",
  method_not_allowed: "The path does not support this method. `Allow` lists the supported ones.",
  request_timeout: "The headers took longer than 20 s to arrive, or the whole request longer than 60 s.",
  dedupe_conflict: "A deduplication key that a task of another mode, queue or kind holds.",
  idempotency_conflict: "The key was used within the last 24 hours with a different request.",
  callback_not_awaited: "A callback cannot end the task in its current state. The id stays valid.",
  cursor_foreign:
    "The cursor comes from a search with other filters, another order, team or environment. `limit` may change.",
  batch_refused:
    "An item of an atomic batch is refused, so no task of the batch is stored. `details` names the item.",
  task_ended: "A cancel of a task that is completed, failed or cancelled.",
  task_not_failed: "A dismissal of a task that has not failed.",
  task_not_retryable: "A retry of a task that has not ended, or has completed.",
  task_queue_gone: "A retry of a task whose queue was deleted. Create the task again, in another queue.",
  task_not_ended: "A resend of the notification of a task that has not ended.",
  notification_unset: "A resend of the notification of a task without `on_complete_url` / `onCompleteUrl`.",
  notification_pending: "A resend of a notification that is neither delivered nor given up yet.",
  task_not_pending: "Only a pending task can be deleted.",
  bulk_not_found: "The team has no such bulk action, or it ended more than 30 days ago.",
  bulk_ended: "A stop of a bulk action that is completed or stopped.",
  bulks_full: "The team has the maximum number of running bulk actions.",
  too_many_scans:
    "One list, search or statistic of the team is being read, and nineteen more wait for their turn. This one was not started.",
  queue_exists: "The team has a queue of this name.",
  queue_default_kept: "Every team keeps its queue `default`.",
  webhook_not_found: "The team has no such webhook.",
  alert_not_found: "No alert of the team has this id.",
  alerts_full: "The team has the maximum number of alerts.",
  webhook_off: "A test event or a redelivery for a webhook that is turned off, by a user or by Bellhop.",
  delivery_not_found: "The webhook has no such delivery, or it is older than 7 days.",
  delivery_pending: "A redelivery of a message that is still being delivered.",
  webhooks_full: "The team has the maximum number of webhooks.",
  schedule_not_found:
    "The team has no schedule with this id or name, or the schedule belongs to its test keys.",
  schedule_exists: "A `POST` with an existing name; `PUT` would replace the schedule.",
  team_limit: "The person owns the maximum number of teams on the plan free.",
  limit_reached:
    "The team has reached a limit of its plan. `GET /v1/me` shows every limit and its current use.",
  breaker_not_found:
    "No queue of the team, or not the given one, has an open circuit breaker for this host. The host is written as in the URL, with its port if it has one.",
  flow_not_found:
    "The team has no flow of this key: nothing is stored for it, it is not paused, and it had no open task in the last 24 hours.",
  flow_backlog_full:
    "As many tasks of the flow wait as its `max_waiting` allows. Create the task again later, or raise the limit.",
  flows_full:
    "Tasks of as many keys of flows wait or are being called as the team's plan allows. Keys with open tasks take more of them.",
  tasks_full: "The team has the maximum number of open tasks of its plan.",
  space_low:
    "The disk of the server's database is nearly full: accepted tasks continue, new ones are refused.",
  member_exists: "The invited address belongs to a member.",
  last_owner: "A team needs at least one owner: the last one cannot be removed or get another role.",
  api_keys_full: "The team has the maximum number of active API keys.",
  applications_full: "The team has the maximum number of applications.",
  body_too_large: "The body is larger than `BELLHOP_BODY_LIMIT`, 1 MiB by default.",
  body_bounds:
    "A body of more than 32 KiB is nested too deeply, or has too many keys or elements: for the team's plan, or outside of `payload` and `body`.",
  body_not_read: "A thread took more than 15 seconds or 128 MiB to read the body: the machine is overloaded.",
  bodies_waiting: "The team has 32 MiB of request bodies waiting to be parsed.",
  body_not_typed: "The body has another media type.",
  rate_limited: "The team, or the source address, made too many requests.",
  internal: "A bug. The server's log has its stack, under the request's `X-Request-Id`.",
  headers_too_large: "The request has more than 100 headers, or more than 16 KiB of them.",
  overloaded:
    "The node is overloaded: 10,000 tasks wait to be stored, at least an equal share of them of this team, this one waited for 1.5 s, or a body of more than 64 KiB could not be read within 25 s because other bodies fill the memory for them. No task was stored.",
  crowded: "The node has 10,000 open connections, or 1,000 from this source, all with a request in progress.",
  database_away:
    "PostgreSQL does not answer. A task may still have been stored: repeat with an idempotency key.",
  stopping: "The node is shutting down; retry at another node or after the restart.",
  vault_off: "The server has no vault key, and the request needs the vault.",
};

/** Throws when a problem has no entry in WHEN, or an entry has no problem, so that the page stays complete. */
export function errorPage(problems) {
  for (const code of Object.keys(problems)) {
    if (!Object.hasOwn(WHEN, code)) throw new Error(`Say in scripts/error-page.mjs when ${code} is answered`);
  }
  for (const code of Object.keys(WHEN)) {
    if (!Object.hasOwn(problems, code))
      throw new Error(`scripts/error-page.mjs knows ${code}, the registry does not`);
  }
  const rows = Object.entries(problems)
    .sort(([, one], [, other]) => one.status - other.status)
    .map(([code, { status, text }]) => `| ${status} | \`${code}\` | \`${text}\` | ${WHEN[code]} |`);
  return `# Errors

All errors of the API, generated from the registry in \`packages/server/src/domain/problem.ts\`. [api.md](api.md#errors)
describes the shape of an error and how to handle it. \`<name>\` in a text stands for a value of the request. A code never
changes its meaning; new codes may be added.

| Status | \`code\` | \`error\` | When |
|---|---|---|---|
${rows.join("\n")}

Two kinds of answers have another shape: the OAuth endpoints follow RFC 6749, \`{ "error", "error_description" }\`, and the
health checks list the failing checks.
`;
}
