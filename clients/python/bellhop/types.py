# Written from openapi.json by `npm run generate`.
"""Requests and answers of the API, with the names that they have on the wire."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

class AccessToken(TypedDict):
    access_token: str
    token_type: Literal["Bearer"]
    expires_in: int
    refresh_token: NotRequired[str]
    scope: str

class AdvanceSandbox(TypedDict):
    seconds: int

AlertWhen = TypedDict("AlertWhen", {
    "kind": "Literal[\"failure_rate\", \"oldest_pending\", \"depth\", \"breaker_open\", \"webhook_disabled\", \"schedule_failing\", \"storage\"]",
    "queue": "str | None",
    "threshold": "float | None",
    "within": "float | None",
    "for": "int",
})

class AlertNotifyItem(TypedDict):
    email: NotRequired[str]
    url: NotRequired[str]
    slack_url: NotRequired[str]
    last_error: str | None
    last_sent_at: str | None

class Alert(TypedDict):
    id: str
    name: str
    when: AlertWhen
    notify: list[AlertNotifyItem]
    enabled: bool
    state: Literal["ok", "firing"]
    value: float | None
    since: str | None
    last_fired_at: str | None
    created_at: str
    updated_at: str

class AlertAnswer(TypedDict):
    alert: Alert

class AlertListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class AlertList(TypedDict):
    alerts: list[Alert]
    pagination: NotRequired[AlertListPagination]

class ApiKey(TypedDict):
    id: str
    name: str
    environment: Literal["live", "test"]
    prefix: str
    createdAt: str
    lastUsedAt: str | None

class ApiKeyListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class ApiKeyList(TypedDict):
    apiKeys: list[ApiKey]
    pagination: NotRequired[ApiKeyListPagination]

class Application(TypedDict):
    clientId: str
    name: str
    redirectUris: list[str]
    scopes: list[str]
    grantTypes: list[str]
    createdAt: str

class ApplicationListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class ApplicationList(TypedDict):
    applications: list[Application]
    pagination: NotRequired[ApplicationListPagination]

class Attempt(TypedDict):
    number: int
    status: Literal["active", "success", "failed", "timeout", "interrupted", "aborted", "blocked", "superseded"]
    response_code: int | None
    executed_at: str
    duration: int | None
    connect_ms: NotRequired[int]
    first_byte_ms: NotRequired[int]
    phase: Literal["not_sent", "sent", "responded"]
    error: str | None

class AuditEventActor(TypedDict):
    kind: Literal["api_key", "session", "application", "operator"]
    id: str
    name: str

class AuditEvent(TypedDict):
    id: str
    at: str
    actor: AuditEventActor
    action: str
    target: str
    detail: dict[str, Any] | None
    address: str | None
    requestId: str | None

class AuditListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class AuditList(TypedDict):
    events: list[AuditEvent]
    pagination: AuditListPagination

class AuthorizationApplication(TypedDict):
    clientId: str
    name: str
    team: str

class AuthorizationUser(TypedDict):
    id: str
    email: str

class Authorization(TypedDict):
    id: str
    application: AuthorizationApplication
    user: AuthorizationUser
    scopes: list[Literal["tasks:read", "tasks:write", "queues:read", "queues:write", "tokens:read", "tokens:write", "tokens:use", "apikeys:read", "apikeys:write", "schedules:read", "schedules:write", "webhooks:read", "webhooks:write", "team:read", "team:write"]]
    createdAt: str
    expiresAt: str

class AuthorizationListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class AuthorizationList(TypedDict):
    authorizations: list[Authorization]
    pagination: NotRequired[AuthorizationListPagination]

class AuthorizationServer(TypedDict):
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    revocation_endpoint: str
    scopes_supported: list[str]
    response_types_supported: list[str]
    response_modes_supported: list[str]
    grant_types_supported: list[str]
    code_challenge_methods_supported: list[str]
    token_endpoint_auth_methods_supported: list[str]
    revocation_endpoint_auth_methods_supported: list[str]
    authorization_response_iss_parameter_supported: bool
    service_documentation: str

class BatchAnswer(TypedDict):
    created: int
    replayed: int
    deduplicated: NotRequired[int]
    refused: int
    results: list[BatchItem]

class BatchItem(TypedDict):
    index: int
    task: NotRequired[CreatedTask | NewDirectTask | BriefTask]
    callbackId: NotRequired[str]
    callbackUrl: NotRequired[str]
    replayed: NotRequired[bool]
    deduplicated: NotRequired[bool]
    replaced: NotRequired[bool]
    error: NotRequired[str]
    code: NotRequired[str]

class Breaker(TypedDict):
    queue: str
    host: str
    state: Literal["open", "probing"]
    failures: int
    opened_at: str
    until: str

class BreakerListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class BreakerList(TypedDict):
    breakers: list[Breaker]
    pagination: NotRequired[BreakerListPagination]

class BriefTask(TypedDict):
    id: str
    status: Literal["pending", "active", "completed", "failed", "waiting", "polling", "cancelled"]
    deduplicated: NotRequired[bool]
    replaced: NotRequired[bool]
    callback_id: NotRequired[str]
    callback_url: NotRequired[str]

class Bulk(TypedDict):
    id: str
    action: Literal["cancel", "retry", "delete", "dismiss"]
    status: Literal["running", "completed", "stopped"]
    matched: int
    done: int
    skipped: int
    created_at: str

class BulkAnswer(TypedDict):
    bulk: Bulk

class BulkListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class BulkList(TypedDict):
    bulks: list[Bulk]
    pagination: BulkListPagination

class ChangeRole(TypedDict):
    role: Literal["owner", "admin", "member", "viewer"]

class CloseBreaker(TypedDict):
    queue: NotRequired[str]

class ClosedBreakers(TypedDict):
    host: str
    closed: list[str]

CreateAlertWhen = TypedDict("CreateAlertWhen", {
    "kind": "Literal[\"failure_rate\", \"oldest_pending\", \"depth\", \"breaker_open\", \"webhook_disabled\", \"schedule_failing\", \"storage\"]",
    "queue": "NotRequired[str | None]",
    "threshold": "NotRequired[float | None]",
    "within": "NotRequired[int | None]",
    "for": "NotRequired[int | None]",
})

class CreateAlertNotifyItem(TypedDict):
    email: NotRequired[str | None]
    url: NotRequired[str | None]
    slack_url: NotRequired[str | None]

class CreateAlert(TypedDict):
    name: str
    when: CreateAlertWhen
    notify: list[CreateAlertNotifyItem]
    enabled: NotRequired[bool]

class CreateApiKey(TypedDict):
    name: str
    environment: NotRequired[Literal["live", "test"]]

class CreateApplication(TypedDict):
    name: str
    redirectUris: NotRequired[list[str]]
    scopes: list[str]
    grantTypes: NotRequired[list[str]]

class CreateBulkFilter(TypedDict):
    queue: NotRequired[str]
    status: NotRequired[str]
    tag: NotRequired[str | list[str]]
    created_after: NotRequired[str]
    created_before: NotRequired[str]
    host: NotRequired[str]
    provider: NotRequired[str]
    schedule: NotRequired[str]
    failure_reason: NotRequired[Literal["retries_exhausted", "worker_lost", "queue_deleted", "poll_failed", "poll_timeout", "callback_timeout", "token_revoked", "blocked", "not_retryable", "expired"]]
    response_code: NotRequired[str]
    error: NotRequired[str]
    metadata: NotRequired[str | dict[str, str]]
    dismissed: NotRequired[Literal["true", "false"]]
    id: NotRequired[str]
    sandbox: NotRequired[bool]

class CreateBulk(TypedDict):
    action: Literal["cancel", "retry", "delete", "dismiss"]
    filter: CreateBulkFilter
    dry_run: NotRequired[bool]
    rate: NotRequired[int]
    confirm: NotRequired[Literal["all"]]

class CreateDirectTask(TypedDict):
    queue: NotRequired[str]
    priority: NotRequired[int]
    delay: NotRequired[int]
    delayUntil: NotRequired[str]
    body: NotRequired[str | dict[str, Any] | list[Any]]
    maxRetries: NotRequired[int]
    timeout: NotRequired[int]
    retryBackoff: NotRequired[Literal["fixed", "exponential"]]
    retryDelay: NotRequired[int]
    retryMaxDelay: NotRequired[int]
    noRetryStatuses: NotRequired[list[int]]
    expiresIn: NotRequired[int]
    targetUrl: str
    method: NotRequired[Literal["GET", "POST", "PUT", "PATCH", "DELETE"]]
    headers: NotRequired[dict[str, str]]
    waitForCallback: NotRequired[bool]
    maxWait: NotRequired[int]
    provider: NotRequired[str]
    pollConfig: NotRequired[OwnPollConfig]
    onCompleteUrl: NotRequired[str]
    onFailureUrl: NotRequired[str]
    idempotencyKey: NotRequired[str]
    sign: NotRequired[bool]
    dedupe: NotRequired[DirectDedupe]
    tags: NotRequired[list[str]]
    metadata: NotRequired[dict[str, str]]
    flow: NotRequired[str | FlowOfTask]
    simulate: NotRequired[DirectSimulation]

class CreateInvitation(TypedDict):
    email: str
    role: NotRequired[Literal["owner", "admin", "member", "viewer"]]

class CreateQueueBreaker2(TypedDict):
    failures: NotRequired[int]
    ratio: NotRequired[float]
    within: NotRequired[int]
    cooldown: NotRequired[int]

class CreateQueue(TypedDict):
    name: str
    concurrency: NotRequired[int]
    max_retries: NotRequired[int]
    retry_backoff: NotRequired[Literal["fixed", "exponential"]]
    retry_delay: NotRequired[int]
    retry_max_delay: NotRequired[int]
    no_retry_statuses: NotRequired[list[int]]
    timeout: NotRequired[int]
    ordered: NotRequired[bool]
    on_failure: NotRequired[Literal["continue", "block"]]
    rate: NotRequired[int | Literal[False]]
    rate_period: NotRequired[int]
    breaker: NotRequired[bool | CreateQueueBreaker2]

class CreateSchedule(TypedDict):
    name: str
    cron: str
    task: CreateTask | CreateDirectTask
    timezone: NotRequired[str]
    overlap: NotRequired[Literal["allow", "skip"]]
    catch_up: NotRequired[Literal["one", "none"]]
    paused: NotRequired[bool]

class CreateTask(TypedDict):
    queue: str
    priority: NotRequired[int]
    delay: NotRequired[int]
    run_at: NotRequired[str]
    payload: NotRequired[Any]
    max_retries: NotRequired[int]
    timeout: NotRequired[int]
    retry_backoff: NotRequired[Literal["fixed", "exponential"]]
    retry_delay: NotRequired[int]
    retry_max_delay: NotRequired[int]
    no_retry_statuses: NotRequired[list[int]]
    expires_in: NotRequired[int]
    webhook_url: str
    method: NotRequired[Literal["GET", "POST", "PUT", "PATCH", "DELETE"]]
    headers: NotRequired[dict[str, str]]
    wait_for_callback: NotRequired[bool]
    max_wait: NotRequired[int]
    provider: NotRequired[str]
    poll_config: NotRequired[OwnPollConfig]
    on_complete_url: NotRequired[str]
    on_failure_url: NotRequired[str]
    idempotency_key: NotRequired[str]
    dedupe: NotRequired[Dedupe]
    tags: NotRequired[list[str]]
    metadata: NotRequired[dict[str, str]]
    flow: NotRequired[str | FlowOfTask]
    simulate: NotRequired[Simulation]

class CreateTasks(TypedDict):
    tasks: list[CreateTask | CreateDirectTask]
    atomic: NotRequired[bool]

class CreateToken(TypedDict):
    name: str
    value: str
    allowedHosts: NotRequired[list[str]]

class CreateWebhook(TypedDict):
    url: str
    events: list[Literal["task.created", "task.replaced", "task.started", "task.attempt_failed", "task.waiting", "task.polling", "task.completed", "task.failed", "task.cancelled", "queue.created", "queue.changed", "queue.paused", "queue.resumed", "queue.deleted", "target.down", "target.up"]]
    queue: NotRequired[str]
    tag: NotRequired[str]
    enabled: NotRequired[bool]

class CreatedApiKeyApiKey(TypedDict):
    id: str
    name: str
    environment: Literal["live", "test"]
    prefix: str
    createdAt: str
    key: str

class CreatedApiKey(TypedDict):
    apiKey: CreatedApiKeyApiKey

class CreatedDirectTask(TypedDict):
    task: NewDirectTask
    deduplicated: NotRequired[bool]
    replaced: NotRequired[bool]
    callbackId: NotRequired[str]
    callbackUrl: NotRequired[str]

class CreatedTaskRetriedWithItem(TypedDict):
    at: str
    fields: list[str]

class CreatedTask(TypedDict):
    id: str
    queue: str
    status: Literal["pending", "active", "completed", "failed", "waiting", "polling", "cancelled"]
    priority: int
    created_at: str
    run_at: NotRequired[str]
    started_at: NotRequired[str]
    completed_at: NotRequired[str]
    payload: NotRequired[Any]
    max_retries: NotRequired[int]
    timeout: NotRequired[int]
    retry_backoff: NotRequired[Literal["fixed", "exponential"]]
    retry_delay: NotRequired[int]
    retry_max_delay: NotRequired[int]
    no_retry_statuses: NotRequired[list[int]]
    expires_in: NotRequired[int]
    webhook_url: NotRequired[str]
    method: NotRequired[Literal["GET", "POST", "PUT", "PATCH", "DELETE"]]
    headers: NotRequired[dict[str, str]]
    wait_for_callback: NotRequired[bool]
    max_wait: NotRequired[int]
    provider: NotRequired[str]
    poll_config: NotRequired[PollConfig]
    on_complete_url: NotRequired[str]
    on_failure_url: NotRequired[str]
    dedupe: NotRequired[Dedupe]
    tags: NotRequired[list[str]]
    metadata: NotRequired[dict[str, str]]
    flow: NotRequired[str]
    result: NotRequired[TaskResult]
    error: NotRequired[str]
    failure_reason: NotRequired[str]
    sandbox: NotRequired[bool]
    schedule: NotRequired[str]
    scheduled_for: NotRequired[str]
    dismissed_at: NotRequired[str]
    attempts: NotRequired[list[Attempt]]
    polls: NotRequired[Polls]
    notifications: NotRequired[list[NotificationState]]
    retries: NotRequired[int]
    retried_with: NotRequired[list[CreatedTaskRetriedWithItem]]
    delay: int
    deduplicated: NotRequired[bool]
    replaced: NotRequired[bool]
    callback_id: NotRequired[str]
    callback_url: NotRequired[str]

class CreatedTeamTeam(TypedDict):
    id: str
    name: str
    plan: Literal["free", "pro", "enterprise"]
    role: Literal["owner", "admin", "member", "viewer"]
    createdAt: str

class CreatedTeam(TypedDict):
    team: CreatedTeamTeam

class Dedupe(TypedDict):
    key: str
    mode: Literal["first", "replace", "debounce"]
    window: int
    max_wait: NotRequired[int]

class DeletedAlertAlert(TypedDict):
    id: str
    deleted: bool

class DeletedAlert(TypedDict):
    alert: DeletedAlertAlert

class DeletedApplicationApplication(TypedDict):
    clientId: str
    name: str
    deletedAt: str

class DeletedApplication(TypedDict):
    application: DeletedApplicationApplication

class DeletedFlow(TypedDict):
    key: str
    deleted: bool

class DeletedQueue(TypedDict):
    name: str
    deleted: bool
    tasks_deleted: int

class DeletedSchedule(TypedDict):
    id: str
    name: str
    deleted: bool

class DeletedTask(TypedDict):
    id: str
    deleted: bool

class DeletedUrlGroup(TypedDict):
    name: str
    deleted: bool

class DeletedWebhookWebhook(TypedDict):
    id: str
    deleted: bool

class DeletedWebhook(TypedDict):
    webhook: DeletedWebhookWebhook

class DirectAttempt(TypedDict):
    number: int
    status: Literal["active", "success", "failed", "timeout", "interrupted", "aborted", "blocked", "superseded"]
    responseCode: int | None
    executedAt: str
    duration: int | None
    connectMs: NotRequired[int]
    firstByteMs: NotRequired[int]
    phase: Literal["not_sent", "sent", "responded"]
    error: str | None

class DirectDedupe(TypedDict):
    key: str
    mode: Literal["first", "replace", "debounce"]
    window: int
    maxWait: NotRequired[int]

class DirectNotificationState(TypedDict):
    url: str
    status: Literal["pending", "delivered", "failed"]
    attempts: int
    lastError: str | None
    nextAt: str | None

class DirectPolls(TypedDict):
    count: int
    lastAt: str
    lastAnswer: str
    lastError: NotRequired[str]

class DirectSimulation(TypedDict):
    outcome: Literal["complete", "fail", "timeout", "callback"]
    after: NotRequired[int]
    body: NotRequired[Any]
    attempts: NotRequired[int]
    responseCode: NotRequired[int]

class DirectTaskRetriedWithItem(TypedDict):
    at: str
    fields: list[str]

class DirectTask(TypedDict):
    id: str
    queue: str
    status: Literal["pending", "active", "completed", "failed", "waiting", "polling", "cancelled"]
    priority: int
    createdAt: str
    runAt: str
    startedAt: NotRequired[str]
    completedAt: NotRequired[str]
    body: NotRequired[str | dict[str, Any] | list[Any]]
    maxRetries: int
    timeout: int
    retryBackoff: Literal["fixed", "exponential"]
    retryDelay: int
    retryMaxDelay: int
    noRetryStatuses: NotRequired[list[int]]
    expiresIn: NotRequired[int]
    targetUrl: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    headers: dict[str, str]
    waitForCallback: NotRequired[bool]
    maxWait: NotRequired[int]
    provider: NotRequired[str]
    pollConfig: NotRequired[PollConfig]
    onCompleteUrl: NotRequired[str]
    onFailureUrl: NotRequired[str]
    sign: NotRequired[bool]
    dedupe: NotRequired[DirectDedupe]
    tags: NotRequired[list[str]]
    metadata: NotRequired[dict[str, str]]
    flow: NotRequired[str]
    result: NotRequired[TaskResult]
    error: NotRequired[str]
    failureReason: NotRequired[str]
    sandbox: NotRequired[bool]
    schedule: NotRequired[str]
    scheduledFor: NotRequired[str]
    dismissedAt: NotRequired[str]
    attempts: list[DirectAttempt]
    polls: NotRequired[DirectPolls]
    notifications: NotRequired[list[DirectNotificationState]]
    retries: NotRequired[int]
    retriedWith: NotRequired[list[DirectTaskRetriedWithItem]]

class DirectTaskAnswer(TypedDict):
    task: DirectTask

class DirectTaskSummary(TypedDict):
    id: str
    queue: str
    status: Literal["pending", "active", "completed", "failed", "waiting", "polling", "cancelled"]
    priority: int
    createdAt: str
    runAt: str
    startedAt: NotRequired[str]
    completedAt: NotRequired[str]
    maxRetries: int
    timeout: int
    retryBackoff: Literal["fixed", "exponential"]
    retryDelay: int
    retryMaxDelay: int
    noRetryStatuses: NotRequired[list[int]]
    expiresIn: NotRequired[int]
    targetUrl: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    headers: dict[str, str]
    waitForCallback: NotRequired[bool]
    maxWait: NotRequired[int]
    provider: NotRequired[str]
    pollConfig: NotRequired[PollConfig]
    onCompleteUrl: NotRequired[str]
    onFailureUrl: NotRequired[str]
    sign: NotRequired[bool]
    dedupe: NotRequired[DirectDedupe]
    tags: NotRequired[list[str]]
    metadata: NotRequired[dict[str, str]]
    flow: NotRequired[str]
    result: NotRequired[TaskResultSummary]
    error: NotRequired[str]
    failureReason: NotRequired[str]
    sandbox: NotRequired[bool]
    schedule: NotRequired[str]
    scheduledFor: NotRequired[str]
    dismissedAt: NotRequired[str]
    attemptCount: NotRequired[int]
    retries: NotRequired[int]

class EndedAuthorizationAuthorization(TypedDict):
    id: str
    endedAt: str

class EndedAuthorization(TypedDict):
    authorization: EndedAuthorizationAuthorization

class EndedOneSessionSession(TypedDict):
    id: str
    endedAt: str

class EndedOneSession(TypedDict):
    session: EndedOneSessionSession

class EndedSessionSession(TypedDict):
    endedAt: str

class EndedSession(TypedDict):
    session: EndedSessionSession

class ErrorDetailsItem(TypedDict):
    field: str
    error: str

class Error(TypedDict):
    error: str
    code: Literal["api_key_required", "api_key_invalid", "token_invalid", "metrics_token_unset", "metrics_token_invalid", "scope_missing", "role_missing", "test_key_refused", "live_refused", "session_required", "session_bound", "form_foreign", "not_found", "method_not_allowed", "body_not_json", "body_not_object", "body_bounds", "body_not_read", "bodies_waiting", "body_not_typed", "body_too_large", "body_coding_unknown", "body_not_decoded", "url_malformed", "request_malformed", "request_timeout", "headers_too_large", "invalid", "cursor_foreign", "batch_refused", "vault_token_unknown", "provider_unknown", "idempotency_conflict", "dedupe_conflict", "callback_unknown", "callback_not_awaited", "rate_limited", "test_mails_limited", "too_many_waiting", "too_many_streams", "streams_full", "task_not_found", "task_ended", "task_not_retryable", "task_queue_gone", "task_not_failed", "task_not_ended", "notification_unset", "notification_pending", "task_not_pending", "bulk_not_found", "bulk_ended", "bulks_full", "too_many_scans", "queue_not_found", "queue_exists", "queue_default_kept", "schedule_not_found", "schedule_exists", "message_not_found", "url_group_not_found", "url_group_used", "list_too_large", "webhook_not_found", "webhook_off", "delivery_not_found", "delivery_pending", "webhooks_full", "alert_not_found", "alerts_full", "limit_reached", "breaker_not_found", "flow_not_found", "flow_backlog_full", "flows_full", "tasks_full", "team_limit", "session_not_found", "team_not_found", "member_not_found", "member_exists", "last_owner", "invitation_not_found", "overloaded", "crowded", "database_away", "space_low", "stopping", "api_key_not_found", "api_keys_full", "application_not_found", "applications_full", "authorization_not_found", "vault_off", "vault_token_not_found", "vault_token_inside", "vault_token_host", "internal"]
    details: NotRequired[list[ErrorDetailsItem]]

class ExplanationTask(TypedDict):
    id: str
    status: Literal["pending", "active", "completed", "failed", "waiting", "polling", "cancelled"]

class ExplanationReasonsItem(TypedDict):
    code: Literal["delayed", "backing_off", "queue_paused", "queue_full", "queue_rate", "team_share", "breaker_open", "flow_full", "flow_rate", "flow_paused", "behind", "blocked_by", "no_worker", "call_under_way", "awaiting_callback", "polling", "sandbox"]
    detail: str
    until: str | None
    blocked_by: NotRequired[str]

class Explanation(TypedDict):
    task: ExplanationTask
    runnable: bool
    starts_about: str | None
    reasons: list[ExplanationReasonsItem]

class FailureGroupTopTagsItem(TypedDict):
    tag: str
    count: int

class FailureGroupTopMetadataItem(TypedDict):
    key: str
    value: str
    count: int

class FailureGroupFilter(TypedDict):
    queue: str
    status: str
    host: NotRequired[str]
    failure_reason: NotRequired[Literal["retries_exhausted", "worker_lost", "queue_deleted", "poll_failed", "poll_timeout", "callback_timeout", "token_revoked", "blocked", "not_retryable", "expired"]]
    response_code: NotRequired[str]
    error: NotRequired[str]
    created_after: str
    dismissed: Literal["false"]
    sandbox: NotRequired[bool]

class FailureGroup(TypedDict):
    queue: str
    host: str
    failure_reason: str | None
    response_code: str | None
    error: str
    count: int
    course: list[int]
    count_is_capped: bool
    first_seen: str
    last_seen: str
    top_tags: list[FailureGroupTopTagsItem]
    top_metadata: list[FailureGroupTopMetadataItem]
    sample_task: str
    filter: FailureGroupFilter

class FailureList(TypedDict):
    failures: list[FailureGroup]

class FlowSource(TypedDict):
    concurrency: Literal["stored", "task", None]
    rate: Literal["stored", "task", None]
    ordered: Literal["stored", "task", None]

class Flow(TypedDict):
    key: str
    concurrency: int | None
    rate: int | None
    period: int | None
    ordered: bool
    on_failure: Literal["continue", "block"]
    pause_on_retry_after: bool
    hold: Literal["call", "task"]
    max_waiting: int | None
    source: FlowSource
    paused: bool
    paused_until: str | None
    active: int
    waiting: int
    begun_in_period: int

class FlowAnswer(TypedDict):
    flow: Flow

class FlowListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class FlowList(TypedDict):
    flows: list[Flow]
    pagination: NotRequired[FlowListPagination]

class FlowOfTask(TypedDict):
    key: str
    concurrency: NotRequired[int]
    rate: NotRequired[int]
    period: NotRequired[int]
    ordered: NotRequired[bool]

class Invitation(TypedDict):
    id: str
    email: str
    role: Literal["owner", "admin", "member", "viewer"]
    invitedBy: str
    createdAt: str
    expiresAt: str

class InvitationAnswer(TypedDict):
    invitation: Invitation

class InvitationListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class InvitationList(TypedDict):
    invitations: list[Invitation]
    pagination: NotRequired[InvitationListPagination]

class MagicLinkSent(TypedDict):
    sent: bool

class MatchedTasks(TypedDict):
    matched: int

class MeTeam(TypedDict):
    id: str
    name: str
    plan: Literal["free", "pro", "enterprise"]

class MeUser1(TypedDict):
    id: str
    email: str

class MeLimitsValue(TypedDict):
    max: NotRequired[int | None]
    used: NotRequired[int | None]
    min: NotRequired[int | None]

class Me(TypedDict):
    kind: Literal["api_key", "session", "application"]
    id: str
    name: str
    environment: Literal["live", "test"]
    role: Literal["owner", "admin", "member", "viewer"]
    scopes: list[Literal["tasks:read", "tasks:write", "queues:read", "queues:write", "tokens:read", "tokens:write", "tokens:use", "apikeys:read", "apikeys:write", "schedules:read", "schedules:write", "webhooks:read", "webhooks:write", "team:read", "team:write"]]
    team: MeTeam
    user: MeUser1 | None
    limits: dict[str, MeLimitsValue]

class Member(TypedDict):
    id: str
    email: str
    role: Literal["owner", "admin", "member", "viewer"]
    joinedAt: str

class MemberAnswer(TypedDict):
    member: Member

class MemberListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class MemberList(TypedDict):
    members: list[Member]
    pagination: NotRequired[MemberListPagination]

class MintedApplicationApplication(TypedDict):
    clientId: str
    name: str
    redirectUris: list[str]
    scopes: list[str]
    grantTypes: list[str]
    createdAt: str
    clientSecret: str

class MintedApplication(TypedDict):
    application: MintedApplicationApplication

class NameTeam(TypedDict):
    name: str

class NewDirectTaskRetriedWithItem(TypedDict):
    at: str
    fields: list[str]

class NewDirectTask(TypedDict):
    id: str
    queue: str
    status: Literal["pending", "active", "completed", "failed", "waiting", "polling", "cancelled"]
    priority: int
    createdAt: str
    runAt: NotRequired[str]
    startedAt: NotRequired[str]
    completedAt: NotRequired[str]
    body: NotRequired[str | dict[str, Any] | list[Any]]
    maxRetries: NotRequired[int]
    timeout: NotRequired[int]
    retryBackoff: NotRequired[Literal["fixed", "exponential"]]
    retryDelay: NotRequired[int]
    retryMaxDelay: NotRequired[int]
    noRetryStatuses: NotRequired[list[int]]
    expiresIn: NotRequired[int]
    targetUrl: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    headers: dict[str, str]
    waitForCallback: NotRequired[bool]
    maxWait: NotRequired[int]
    provider: NotRequired[str]
    pollConfig: NotRequired[PollConfig]
    onCompleteUrl: NotRequired[str]
    onFailureUrl: NotRequired[str]
    sign: NotRequired[bool]
    dedupe: NotRequired[DirectDedupe]
    tags: NotRequired[list[str]]
    metadata: NotRequired[dict[str, str]]
    flow: NotRequired[str]
    result: NotRequired[TaskResult]
    error: NotRequired[str]
    failureReason: NotRequired[str]
    sandbox: NotRequired[bool]
    schedule: NotRequired[str]
    scheduledFor: NotRequired[str]
    dismissedAt: NotRequired[str]
    attempts: NotRequired[list[DirectAttempt]]
    polls: NotRequired[DirectPolls]
    notifications: NotRequired[list[DirectNotificationState]]
    retries: NotRequired[int]
    retriedWith: NotRequired[list[NewDirectTaskRetriedWithItem]]

class NotificationState(TypedDict):
    url: str
    status: Literal["pending", "delivered", "failed"]
    attempts: int
    last_error: str | None
    next_at: str | None

class OAuthError(TypedDict):
    error: str
    error_description: str

class OpenSession(TypedDict):
    token: str

class OwnPollConfig(TypedDict):
    urlTemplate: str
    interval: NotRequired[float]
    statusPath: str
    doneValues: list[str]
    failValues: list[str]
    resultPath: NotRequired[str]
    errorPath: NotRequired[str]
    resultUrlTemplate: NotRequired[str]
    cancelUrlTemplate: NotRequired[str]
    cancelMethod: NotRequired[Literal["GET", "POST", "PUT", "PATCH", "DELETE"]]
    forwardAuth: NotRequired[bool]
    forwardHeaders: NotRequired[list[str]]
    maxDuration: NotRequired[float]

class PollConfig(TypedDict):
    urlTemplate: str
    interval: float
    statusPath: str
    doneValues: list[str]
    failValues: list[str]
    resultPath: str
    errorPath: NotRequired[str]
    resultUrlTemplate: NotRequired[str]
    cancelUrlTemplate: NotRequired[str]
    cancelMethod: NotRequired[Literal["GET", "POST", "PUT", "PATCH", "DELETE"]]
    forwardAuth: bool
    forwardHeaders: NotRequired[list[str]]
    maxDuration: float

class Polls(TypedDict):
    count: int
    last_at: str
    last_answer: str
    last_error: NotRequired[str]

class Provider(TypedDict):
    id: str
    name: str
    description: str
    pollConfig: PollConfig

class ProviderList(TypedDict):
    providers: list[Provider]

class PutFlow(TypedDict):
    concurrency: NotRequired[int]
    rate: NotRequired[int]
    period: NotRequired[int]
    ordered: NotRequired[bool]
    on_failure: NotRequired[Literal["continue", "block"]]
    pause_on_retry_after: NotRequired[bool]
    hold: NotRequired[Literal["call", "task"]]
    max_waiting: NotRequired[int]

class PutSchedule(TypedDict):
    cron: str
    task: CreateTask | CreateDirectTask
    timezone: NotRequired[str]
    overlap: NotRequired[Literal["allow", "skip"]]
    catch_up: NotRequired[Literal["one", "none"]]
    paused: NotRequired[bool]

class PutUrlGroupEndpointsItem(TypedDict):
    url: str
    name: NotRequired[str]

class PutUrlGroup(TypedDict):
    endpoints: list[PutUrlGroupEndpointsItem]

class QueueBreaker2(TypedDict):
    failures: int
    ratio: float
    within: int
    cooldown: int

class Queue(TypedDict):
    name: str
    concurrency: int
    max_retries: int
    retry_backoff: Literal["fixed", "exponential"]
    retry_delay: int
    retry_max_delay: int
    no_retry_statuses: list[int]
    timeout: int
    ordered: bool
    on_failure: Literal["continue", "block"]
    rate: int | Literal[False]
    rate_period: int | None
    breaker: Literal[False] | QueueBreaker2
    paused: bool
    created_at: str
    updated_at: str

class QueueListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class QueueList(TypedDict):
    queues: list[QueueWithStats]
    pagination: NotRequired[QueueListPagination]

class QueueSeriesWaitMs(TypedDict):
    p50: list[float | None]
    p95: list[float | None]

class QueueSeriesDurationMs(TypedDict):
    p50: list[float | None]
    p95: list[float | None]

class QueueSeriesNow(TypedDict):
    pending: int
    active: int
    waiting: int
    polling: int

class QueueSeries(TypedDict):
    queue: str | None
    created: list[int]
    completed: list[int]
    failed: list[int]
    cancelled: list[int]
    retried: list[int]
    pending: list[int | None]
    wait_ms: QueueSeriesWaitMs
    duration_ms: QueueSeriesDurationMs
    oldest_pending_at: str | None
    now: QueueSeriesNow

QueueStatisticsStats = TypedDict("QueueStatisticsStats", {
    "range": "Literal[\"15m\", \"1h\", \"6h\", \"24h\", \"7d\", \"30d\"]",
    "from": "str",
    "to": "str",
    "step_seconds": "int",
    "at": "list[str]",
    "queues": "list[QueueSeries]",
    "total": "QueueSeries",
})

class QueueStatistics(TypedDict):
    stats: QueueStatisticsStats

class QueueStats(TypedDict):
    pending: int
    active: int
    completed: int
    failed: int
    waiting: int
    polling: int
    cancelled: int

class QueueWithStatsBreaker2(TypedDict):
    failures: int
    ratio: float
    within: int
    cooldown: int

class QueueWithStats(TypedDict):
    name: str
    concurrency: int
    max_retries: int
    retry_backoff: Literal["fixed", "exponential"]
    retry_delay: int
    retry_max_delay: int
    no_retry_statuses: list[int]
    timeout: int
    ordered: bool
    on_failure: Literal["continue", "block"]
    rate: int | Literal[False]
    rate_period: int | None
    breaker: Literal[False] | QueueWithStatsBreaker2
    paused: bool
    created_at: str
    updated_at: str
    stats: QueueStats

class Readiness(TypedDict):
    status: str
    checks: dict[str, str]

class RemovedMemberMember(TypedDict):
    id: str
    email: str
    removedAt: str

class RemovedMember(TypedDict):
    member: RemovedMemberMember

class RequestMagicLink(TypedDict):
    email: str

class ResolvedTaskTask(TypedDict):
    id: str
    status: Literal["pending", "active", "completed", "failed", "waiting", "polling", "cancelled"]
    result: NotRequired[TaskResult]
    createdAt: str
    completedAt: NotRequired[str]

class ResolvedTask(TypedDict):
    task: ResolvedTaskTask

class RetryTask(TypedDict):
    delay: NotRequired[int]
    priority: NotRequired[int]
    payload: NotRequired[Any]
    body: NotRequired[str | dict[str, Any] | list[Any]]
    headers: NotRequired[dict[str, str]]
    webhook_url: NotRequired[str]
    targetUrl: NotRequired[str]

class RevocationRequest(TypedDict):
    token: str
    token_type_hint: NotRequired[str]
    client_id: NotRequired[str]
    client_secret: NotRequired[str]

class RevokedAccess(TypedDict):
    revoked: bool

class RevokedApiKeyApiKey(TypedDict):
    id: str
    name: str
    revokedAt: str

class RevokedApiKey(TypedDict):
    apiKey: RevokedApiKeyApiKey

class RevokedInvitationInvitation(TypedDict):
    id: str
    email: str
    revokedAt: str

class RevokedInvitation(TypedDict):
    invitation: RevokedInvitationInvitation

class RevokedTokenToken(TypedDict):
    id: str
    name: str
    revokedAt: str

class RevokedToken(TypedDict):
    token: RevokedTokenToken

class SandboxSandbox(TypedDict):
    now: str
    ahead_seconds: int

class Sandbox(TypedDict):
    sandbox: SandboxSandbox

class SandboxAdvancedSandbox(TypedDict):
    now: str
    ahead_seconds: int

class SandboxAdvanced(TypedDict):
    advanced: int
    stopped: str | None
    sandbox: SandboxAdvancedSandbox

class Schedule(TypedDict):
    id: str
    name: str
    cron: str
    timezone: str
    overlap: Literal["allow", "skip"]
    catch_up: Literal["one", "none"]
    paused: bool
    next_runs: list[str]
    last_task: ScheduleLastTask | None
    last_error: ScheduleLastError | None
    created_at: str
    updated_at: str
    task: CreateTask | CreateDirectTask

class ScheduleAnswer(TypedDict):
    schedule: Schedule

class ScheduleLastError(TypedDict):
    at: str
    error: str

class ScheduleLastTask(TypedDict):
    id: str
    status: str
    created_at: str

class ScheduleListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class ScheduleList(TypedDict):
    schedules: list[ScheduleSummary]
    pagination: NotRequired[ScheduleListPagination]

class ScheduleSummary(TypedDict):
    id: str
    name: str
    cron: str
    timezone: str
    overlap: Literal["allow", "skip"]
    catch_up: Literal["one", "none"]
    paused: bool
    next_runs: list[str]
    last_task: ScheduleLastTask | None
    last_error: ScheduleLastError | None
    created_at: str
    updated_at: str

class SessionTeam(TypedDict):
    id: str
    name: str

class Session(TypedDict):
    id: str
    team: SessionTeam
    createdAt: str
    expiresAt: str
    current: bool

class SessionListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class SessionList(TypedDict):
    sessions: list[Session]
    pagination: NotRequired[SessionListPagination]

class SignedInSession(TypedDict):
    token: str
    expiresAt: str

class SignedInUser(TypedDict):
    id: str
    email: str

class SignedInTeam(TypedDict):
    id: str
    name: str
    plan: Literal["free", "pro", "enterprise"]

class SignedIn(TypedDict):
    session: SignedInSession
    user: SignedInUser
    team: SignedInTeam

class SigningSecretAnswerSigningSecret(TypedDict):
    secret: str
    createdAt: str
    previousValidUntil: str | None

class SigningSecretAnswer(TypedDict):
    signingSecret: SigningSecretAnswerSigningSecret

class Simulation(TypedDict):
    outcome: Literal["complete", "fail", "timeout", "callback"]
    after: NotRequired[int]
    body: NotRequired[Any]
    attempts: NotRequired[int]
    response_code: NotRequired[int]

class SwitchTeam(TypedDict):
    teamId: str

class SystemNode(TypedDict):
    name: str
    role: Literal["all", "api", "worker"]
    version: str
    startedAt: str
    lagMs: float
    lease: Literal["held", "expired", "lost", "none"]
    slots: int
    callsInFlight: int
    maxInFlight: int
    clockOffsetMs: float
    loopLagMs: float

class SystemStateDatabaseDisk1(TypedDict):
    freeBytes: float
    usedPercent: float

class SystemStateDatabase(TypedDict):
    version: str
    schema: int
    embedded: bool
    sizeBytes: float
    connections: int
    maxConnections: int
    disk: SystemStateDatabaseDisk1 | None

class SystemStateEventsHolder1(TypedDict):
    application: str
    user: str
    pid: int | None
    state: str | None
    since: str

class SystemStateEvents(TypedDict):
    behindSeconds: float
    holder: SystemStateEventsHolder1 | None

class SystemState(TypedDict):
    nodes: list[SystemNode]
    database: SystemStateDatabase
    events: SystemStateEvents

class TaskRetriedWithItem(TypedDict):
    at: str
    fields: list[str]

class Task(TypedDict):
    id: str
    queue: str
    status: Literal["pending", "active", "completed", "failed", "waiting", "polling", "cancelled"]
    priority: int
    created_at: str
    run_at: str
    started_at: NotRequired[str]
    completed_at: NotRequired[str]
    payload: Any
    max_retries: int
    timeout: int
    retry_backoff: Literal["fixed", "exponential"]
    retry_delay: int
    retry_max_delay: int
    no_retry_statuses: NotRequired[list[int]]
    expires_in: NotRequired[int]
    webhook_url: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    headers: dict[str, str]
    wait_for_callback: NotRequired[bool]
    max_wait: NotRequired[int]
    provider: NotRequired[str]
    poll_config: NotRequired[PollConfig]
    on_complete_url: NotRequired[str]
    on_failure_url: NotRequired[str]
    dedupe: NotRequired[Dedupe]
    tags: NotRequired[list[str]]
    metadata: NotRequired[dict[str, str]]
    flow: NotRequired[str]
    result: NotRequired[TaskResult]
    error: NotRequired[str]
    failure_reason: NotRequired[str]
    sandbox: NotRequired[bool]
    schedule: NotRequired[str]
    scheduled_for: NotRequired[str]
    dismissed_at: NotRequired[str]
    attempts: list[Attempt]
    polls: NotRequired[Polls]
    notifications: NotRequired[list[NotificationState]]
    retries: NotRequired[int]
    retried_with: NotRequired[list[TaskRetriedWithItem]]

class TaskListPagination(TypedDict):
    total: int
    totalIsCapped: NotRequired[bool]
    limit: int
    offset: int
    hasMore: bool
    nextCursor: str | None

class TaskList(TypedDict):
    tasks: list[TaskSummary | DirectTaskSummary]
    pagination: TaskListPagination

class TaskNotificationData(TypedDict):
    task: Task | DirectTask

class TaskNotification(TypedDict):
    type: Literal["task.completed", "task.failed", "task.cancelled"]
    timestamp: str
    data: TaskNotificationData

class TaskResult(TypedDict):
    statusCode: int
    headers: dict[str, str]
    body: str
    duration: int
    truncated: NotRequired[bool]

class TaskResultSummary(TypedDict):
    statusCode: int
    headers: dict[str, str]
    duration: int
    truncated: NotRequired[bool]

class TaskSummary(TypedDict):
    id: str
    queue: str
    status: Literal["pending", "active", "completed", "failed", "waiting", "polling", "cancelled"]
    priority: int
    created_at: str
    run_at: str
    started_at: NotRequired[str]
    completed_at: NotRequired[str]
    max_retries: int
    timeout: int
    retry_backoff: Literal["fixed", "exponential"]
    retry_delay: int
    retry_max_delay: int
    no_retry_statuses: NotRequired[list[int]]
    expires_in: NotRequired[int]
    webhook_url: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    headers: dict[str, str]
    wait_for_callback: NotRequired[bool]
    max_wait: NotRequired[int]
    provider: NotRequired[str]
    poll_config: NotRequired[PollConfig]
    on_complete_url: NotRequired[str]
    on_failure_url: NotRequired[str]
    dedupe: NotRequired[Dedupe]
    tags: NotRequired[list[str]]
    metadata: NotRequired[dict[str, str]]
    flow: NotRequired[str]
    result: NotRequired[TaskResultSummary]
    error: NotRequired[str]
    failure_reason: NotRequired[str]
    sandbox: NotRequired[bool]
    schedule: NotRequired[str]
    scheduled_for: NotRequired[str]
    dismissed_at: NotRequired[str]
    attempt_count: NotRequired[int]
    retries: NotRequired[int]

class Team(TypedDict):
    id: str
    name: str
    plan: Literal["free", "pro", "enterprise"]
    createdAt: str

class TeamAnswer(TypedDict):
    team: Team

class TeamListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class TeamList(TypedDict):
    teams: list[TeamMembership]
    pagination: NotRequired[TeamListPagination]

class TeamMembership(TypedDict):
    id: str
    name: str
    plan: Literal["free", "pro", "enterprise"]
    role: Literal["owner", "admin", "member", "viewer"]
    joinedAt: str
    current: bool

class Token(TypedDict):
    id: str
    name: str
    allowedHosts: NotRequired[list[str]]
    createdAt: str
    lastUsedAt: str | None

class TokenAnswer(TypedDict):
    token: Token

class TokenDetailOpenTasks(TypedDict):
    count: int
    isCapped: bool

class TokenDetail(TypedDict):
    id: str
    name: str
    allowedHosts: NotRequired[list[str]]
    createdAt: str
    lastUsedAt: str | None
    openTasks: TokenDetailOpenTasks

class TokenDetailAnswer(TypedDict):
    token: TokenDetail

class TokenListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class TokenList(TypedDict):
    tokens: list[Token]
    pagination: NotRequired[TokenListPagination]

class TokenRequest(TypedDict):
    grant_type: Literal["authorization_code", "refresh_token", "client_credentials"]
    code: NotRequired[str]
    redirect_uri: NotRequired[str]
    code_verifier: NotRequired[str]
    refresh_token: NotRequired[str]
    scope: NotRequired[str]
    client_id: NotRequired[str]
    client_secret: NotRequired[str]

UpdateAlertWhen = TypedDict("UpdateAlertWhen", {
    "kind": "Literal[\"failure_rate\", \"oldest_pending\", \"depth\", \"breaker_open\", \"webhook_disabled\", \"schedule_failing\", \"storage\"]",
    "queue": "NotRequired[str | None]",
    "threshold": "NotRequired[float | None]",
    "within": "NotRequired[int | None]",
    "for": "NotRequired[int | None]",
})

class UpdateAlertNotifyItem(TypedDict):
    email: NotRequired[str | None]
    url: NotRequired[str | None]
    slack_url: NotRequired[str | None]

class UpdateAlert(TypedDict):
    name: NotRequired[str]
    when: NotRequired[UpdateAlertWhen]
    notify: NotRequired[list[UpdateAlertNotifyItem]]
    enabled: NotRequired[bool]

class UpdateQueueBreaker2(TypedDict):
    failures: NotRequired[int]
    ratio: NotRequired[float]
    within: NotRequired[int]
    cooldown: NotRequired[int]

class UpdateQueue(TypedDict):
    concurrency: NotRequired[int]
    max_retries: NotRequired[int]
    retry_backoff: NotRequired[Literal["fixed", "exponential"]]
    retry_delay: NotRequired[int]
    retry_max_delay: NotRequired[int]
    no_retry_statuses: NotRequired[list[int]]
    timeout: NotRequired[int]
    ordered: NotRequired[bool]
    on_failure: NotRequired[Literal["continue", "block"]]
    rate: NotRequired[int | Literal[False]]
    rate_period: NotRequired[int]
    breaker: NotRequired[bool | UpdateQueueBreaker2]

class UpdateSchedule(TypedDict):
    cron: NotRequired[str]
    task: NotRequired[CreateTask | CreateDirectTask]
    timezone: NotRequired[str]
    overlap: NotRequired[Literal["allow", "skip"]]
    catch_up: NotRequired[Literal["one", "none"]]
    paused: NotRequired[bool]

class UpdateWebhook(TypedDict):
    url: NotRequired[str]
    events: NotRequired[list[Literal["task.created", "task.replaced", "task.started", "task.attempt_failed", "task.waiting", "task.polling", "task.completed", "task.failed", "task.cancelled", "queue.created", "queue.changed", "queue.paused", "queue.resumed", "queue.deleted", "target.down", "target.up"]]]
    queue: NotRequired[str | None]
    tag: NotRequired[str | None]
    enabled: NotRequired[bool]

class UrlGroupEndpointsItem(TypedDict):
    name: str | None
    url: str

class UrlGroup(TypedDict):
    name: str
    endpoints: list[UrlGroupEndpointsItem]
    created_at: str
    updated_at: str

class UrlGroupAnswer(TypedDict):
    url_group: UrlGroup

class UrlGroupListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class UrlGroupList(TypedDict):
    url_groups: list[UrlGroup]
    pagination: NotRequired[UrlGroupListPagination]

class Webhook(TypedDict):
    id: str
    url: str
    events: list[Literal["task.created", "task.replaced", "task.started", "task.attempt_failed", "task.waiting", "task.polling", "task.completed", "task.failed", "task.cancelled", "queue.created", "queue.changed", "queue.paused", "queue.resumed", "queue.deleted", "target.down", "target.up"]]
    queue: str | None
    tag: str | None
    enabled: bool
    disabled_at: str | None
    failing_since: str | None
    created_at: str
    updated_at: str

class WebhookAnswer(TypedDict):
    webhook: Webhook

class WebhookDelivery(TypedDict):
    id: str
    message_id: str
    event: Literal["task.created", "task.replaced", "task.started", "task.attempt_failed", "task.waiting", "task.polling", "task.completed", "task.failed", "task.cancelled", "queue.created", "queue.changed", "queue.paused", "queue.resumed", "queue.deleted", "target.down", "target.up", "webhook.test"]
    status: Literal["pending", "delivered", "failed"]
    attempts: int
    response_code: int | None
    error: str | None
    created_at: str
    next_at: str | None

class WebhookDeliveryAnswer(TypedDict):
    delivery: WebhookDelivery

class WebhookDeliveryListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class WebhookDeliveryList(TypedDict):
    deliveries: list[WebhookDelivery]
    pagination: NotRequired[WebhookDeliveryListPagination]

class WebhookListPagination(TypedDict):
    limit: int
    hasMore: bool
    nextCursor: str | None

class WebhookList(TypedDict):
    webhooks: list[Webhook]
    pagination: NotRequired[WebhookListPagination]
