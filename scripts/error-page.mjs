// Writes docs/errors.md from the registry of problems. When each one is answered is said here: only people need it.

const WHEN = {
  body_not_json: "The body is not JSON, or not UTF-8.",
  body_coding_unknown:
    "A body was sent in another content coding. `Accept-Encoding` lists those that are read.",
  body_not_decoded: "The body is not in the content coding that `Content-Encoding` names, or broke off.",
  body_not_object: "The body is JSON, but no object.",
  url_malformed: "The path cannot be decoded, as with a stray `%`.",
  request_malformed: "The bytes are no HTTP request, or the body broke off.",
  invalid: "A field is unknown, missing or breaks its rule; the text says which and how. See `details`.",
  vault_token_unknown:
    "A header of the task names a vault token that does not exist, is revoked or is another team's.",
  provider_unknown: "`provider` is not in the catalog.",
  vault_token_inside:
    "A header of the task has the id of one of the team's vault tokens in it without starting with it, as in `Bearer tok_…`.",
  vault_token_host:
    "A header of the task names a vault token whose `allowedHosts` leave out the host of the call.",
  api_key_required: "The request has no credential.",
  api_key_invalid: "The API key is unknown, malformed or revoked.",
  token_invalid: "The session, access token or sign-in link is unknown, has expired or was ended.",
  metrics_token_unset: "`/metrics` of an exposed server that has no `BELLHOP_METRICS_TOKEN`.",
  metrics_token_invalid:
    "`/metrics` was asked for without the server's `BELLHOP_METRICS_TOKEN`, or with another.",
  scope_missing: "The application was not granted this scope.",
  role_missing: "The role behind the credential is too low.",
  live_refused: "Any other credential than a test key asks for something of the sandbox alone.",
  test_key_refused:
    "A test key asks to change something outside of the sandbox, such as a queue that is there, keys or members.",
  session_required: "The route is for people: an API key or an application cannot use it.",
  session_bound: "A session that came from an invitation asks for another team, or a new one.",
  form_foreign: "A form of Bellhop's pages was sent from somewhere else.",
  not_found: "There is no such route.",
  callback_unknown: "The id was never issued, was used, or its task was deleted or waited too long.",
  too_many_waiting:
    "The team has 1,000 requests with `wait` open on this node, or the node 5,000 in all. Nothing was stored.",
  too_many_streams:
    "The node has 2,000 event streams open, or 1,800 and the team has one of them. Try again after `Retry-After`.",
  streams_full:
    "The team has as many event streams open on this node as its plan allows. Nothing was opened.",
  task_not_found: "No task of the team has this id.",
  queue_not_found: "No queue of the team has this name; also when a task is created for it.",
  session_not_found: "You have no such session, or it has ended.",
  team_not_found: "You are not in such a team.",
  member_not_found: "The team has no such member.",
  invitation_not_found: "There is no such open invitation.",
  api_key_not_found: "The team has no such active key.",
  application_not_found: "The team has no such application.",
  authorization_not_found: "There is no such consent that still counts, or it is not yours to see.",
  vault_token_not_found: "The team has no such active vault token.",
  method_not_allowed: "The path exists, but not with this method. `Allow` lists those that do.",
  request_timeout: "The headers took longer than 20 s to arrive, or the whole request longer than 60 s.",
  idempotency_conflict: "The key was used within 24 hours with a request that asked for something else.",
  callback_not_awaited: "The task cannot be ended by a callback now. The id stays valid.",
  cursor_foreign:
    "A list of tasks was asked for with the `nextCursor` of another search: other filters, another order, another team or environment. `limit` may change.",
  batch_refused:
    "An item of an atomic batch is refused, and nothing of it is stored. `details` names the item.",
  task_ended: "A cancel of a task that is completed, failed or cancelled.",
  task_not_retryable: "A retry of a task that has not ended, or has completed.",
  task_queue_gone: "A retry of a task whose queue was deleted. Create the task again, in another queue.",
  task_not_ended: "A resend of the notification of a task that has not ended.",
  notification_unset: "A resend of the notification of a task without `on_complete_url` / `onCompleteUrl`.",
  notification_pending: "A resend of a notification that is neither delivered nor given up yet.",
  task_not_pending: "Only a pending task can be deleted.",
  bulk_not_found: "The team has no such bulk action, or it ended more than 30 days ago.",
  bulk_ended: "A stop of a bulk action that has come to its end, or was stopped.",
  bulks_full: "The team has as many bulk actions running as one may.",
  too_many_scans:
    "One bulk action or dry run of the team is looking for its tasks, and five more wait. Nothing was started.",
  queue_exists: "The team has a queue of this name.",
  queue_default_kept: "Every team keeps its queue `default`.",
  webhook_not_found: "The team has no such webhook.",
  webhooks_full: "The team has as many webhooks as one may.",
  schedule_not_found: "The team has no schedule of this id or name, or it is one of its test keys'.",
  schedule_exists: "`POST` of a name that is taken; `PUT` would replace it.",
  team_limit: "The person owns as many teams on the plan free as one may.",
  limit_reached:
    "The team has as much of this as its plan allows. `GET /v1/me` shows every bound and what is used of it.",
  tasks_full: "So many of the team's tasks have not ended that its plan allows no more for now.",
  space_low:
    "The disk of the server's database is nearly full: tasks that were accepted go on, new ones are not.",
  member_exists: "The invited address is a member's.",
  last_owner: "A team keeps at least one owner: nobody can remove the last, or give it another role.",
  api_keys_full: "The team has as many active API keys as one may.",
  applications_full: "The team has as many applications as one may.",
  body_too_large: "The body is larger than `BELLHOP_BODY_LIMIT`, 1 MiB by default.",
  body_bounds:
    "A body of more than 32 KiB is nested too deeply, or has too many keys or elements: for the team's plan, or outside of `payload` and `body`.",
  body_not_read: "A thread took more than 15 seconds or 128 MiB to read the body: the machine is overloaded.",
  bodies_waiting: "The team has 32 MiB of request bodies waiting to be read.",
  body_not_typed: "A body was sent under another media type.",
  rate_limited: "The team, or the source address, made too many requests.",
  internal: "A bug. The server's log has its stack, under the request's `X-Request-Id`.",
  headers_too_large: "The request has more than 100 headers, or more than 16 KiB of them.",
  overloaded:
    "More arrives than can be stored: 10,000 tasks wait to be written on this node, one waited there for 1.5 s, or a body of more than 64 KiB could not be read within 25 s because others fill the memory for them. Nothing was stored.",
  crowded: "The node has 10,000 open connections, or 1,000 from this source, and each is at work.",
  database_away:
    "PostgreSQL does not answer. A task may have been stored all the same: repeat with an idempotency key.",
  stopping: "The node is shutting down; another one, or the next start, will answer.",
  vault_off: "The server has no vault key, and the request needs the vault.",
};

/** Throws when a problem has no sentence here, or a sentence no problem: the page must not go stale. */
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

Every answer of Bellhop that is not a success, written from the registry in \`packages/server/src/domain/problem.ts\`. The
shape of an error, and what to do about one, is in [api.md](api.md#errors). \`<name>\` in a text stands for what the request
was about. A code never changes its meaning; new ones may come.

| Status | \`code\` | \`error\` | When |
|---|---|---|---|
${rows.join("\n")}

Two answers have another shape: the endpoints of OAuth follow RFC 6749, \`{ "error", "error_description" }\`, and the health
checks say what is not well.
`;
}
