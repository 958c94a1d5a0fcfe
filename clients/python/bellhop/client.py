"""The client of one server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from .events import Event, read_events
from .tasks import Tasks
from .transport import Transport
from .types import (
    ApiKey,
    CreateApiKey,
    CreatedApiKey,
    CreateQueue,
    CreateSchedule,
    CreateToken,
    CreateWebhook,
    FailureGroup,
    Me,
    Provider,
    PutSchedule,
    Queue,
    QueueStatistics,
    QueueWithStats,
    Schedule,
    ScheduleSummary,
    SystemState,
    Token,
    UpdateQueue,
    UpdateSchedule,
    UpdateWebhook,
    Webhook,
)


class _Group:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _ask(self, operation: str, field: str | None = None, **given: Any) -> Any:
        answer = self._transport.send(operation, **given).json
        return answer if field is None else answer[field]

    def _all(self, operation: str, field: str, **query: Any) -> Any:
        """All of a list that is short, though a server may give a long one in pages."""
        items: list[Any] = []
        while True:
            answer = self._transport.send(operation, query=query).json
            items.extend(answer[field])
            cursor = answer.get("pagination", {}).get("nextCursor")
            if cursor is None:
                return items
            query = {**query, "cursor": cursor}


class Queues(_Group):
    def create(self, queue: CreateQueue) -> Queue:
        return cast(Queue, self._ask("createQueue", body=queue))

    def get(self, name: str) -> QueueWithStats:
        return cast(QueueWithStats, self._ask("getQueue", id=name))

    def list(self) -> list[QueueWithStats]:
        return cast("list[QueueWithStats]", self._all("listQueues", "queues"))

    def update(self, name: str, settings: UpdateQueue) -> Queue:
        return cast(Queue, self._ask("updateQueue", id=name, body=settings))

    def delete(self, name: str) -> Any:
        return self._ask("deleteQueue", id=name)

    def pause(self, name: str) -> Queue:
        return cast(Queue, self._ask("pauseQueue", id=name))

    def resume(self, name: str) -> Queue:
        return cast(Queue, self._ask("resumeQueue", id=name))


class Schedules(_Group):
    """Tasks that are created again and again. All but ``create`` and ``list`` take a schedule's id or name."""

    def create(self, schedule: CreateSchedule) -> Schedule:
        return cast(Schedule, self._ask("createSchedule", "schedule", body=schedule))

    def put(self, name: str, schedule: PutSchedule) -> Schedule:
        """Creates it, or replaces the one of this name."""
        return cast(Schedule, self._ask("putSchedule", "schedule", id=name, body=schedule, repeatable=True))

    def list(self) -> list[ScheduleSummary]:
        return cast("list[ScheduleSummary]", self._all("listSchedules", "schedules"))

    def get(self, schedule: str) -> Schedule:
        return cast(Schedule, self._ask("getSchedule", "schedule", id=schedule))

    def update(self, schedule: str, changes: UpdateSchedule) -> Schedule:
        return cast(Schedule, self._ask("updateSchedule", "schedule", id=schedule, body=changes))

    def delete(self, schedule: str) -> Any:
        return self._ask("deleteSchedule", id=schedule)

    def pause(self, schedule: str) -> Schedule:
        return cast(Schedule, self._ask("pauseSchedule", "schedule", id=schedule))

    def resume(self, schedule: str) -> Schedule:
        return cast(Schedule, self._ask("resumeSchedule", "schedule", id=schedule))

    def run(self, schedule: str) -> Any:
        """Creates a task of it now."""
        return self._ask("runSchedule", id=schedule)


class Tokens(_Group):
    """Stored credentials of third parties, ``tok_…``."""

    def create(self, token: CreateToken) -> Token:
        return cast(Token, self._ask("createToken", "token", body=token))

    def list(self) -> list[Token]:
        return cast("list[Token]", self._all("listTokens", "tokens"))

    def get(self, token_id: str) -> Any:
        return self._ask("getToken", "token", id=token_id)

    def revoke(self, token_id: str) -> Any:
        return self._ask("revokeToken", "token", id=token_id)


class Webhooks(_Group):
    def create(self, webhook: CreateWebhook) -> Webhook:
        return cast(Webhook, self._ask("createWebhook", "webhook", body=webhook))

    def list(self) -> list[Webhook]:
        return cast("list[Webhook]", self._all("listWebhooks", "webhooks"))

    def get(self, webhook_id: str) -> Webhook:
        return cast(Webhook, self._ask("getWebhook", "webhook", id=webhook_id))

    def update(self, webhook_id: str, changes: UpdateWebhook) -> Webhook:
        return cast(Webhook, self._ask("updateWebhook", "webhook", id=webhook_id, body=changes))

    def delete(self, webhook_id: str) -> Any:
        return self._ask("deleteWebhook", "webhook", id=webhook_id)

    def test(self, webhook_id: str) -> Any:
        """Sends an event ``webhook.test`` to this webhook alone."""
        return self._ask("testWebhook", "delivery", id=webhook_id)


class ApiKeys(_Group):
    def create(self, key: CreateApiKey) -> CreatedApiKey:
        return cast(CreatedApiKey, self._ask("createApiKey", "apiKey", body=key))

    def list(self) -> list[ApiKey]:
        return cast("list[ApiKey]", self._all("listApiKeys", "apiKeys"))

    def revoke(self, key_id: str) -> Any:
        return self._ask("revokeApiKey", "apiKey", id=key_id)


class SigningSecret(_Group):
    def get(self) -> Any:
        return self._ask("getSigningSecret", "signingSecret")

    def rotate(self) -> Any:
        return self._ask("rotateSigningSecret", "signingSecret")


class Stats(_Group):
    """What happened in the queues."""

    def queues(self, **query: Any) -> QueueStatistics:
        return cast(QueueStatistics, self._ask("getQueueStats", "stats", query=query))

    def failures(self, **query: Any) -> list[FailureGroup]:
        return cast("list[FailureGroup]", self._ask("getFailureStats", "failures", query=query))


class Sandbox(_Group):
    """For test keys: the clock by which their tasks and schedules go."""

    def get(self) -> Any:
        return self._ask("getSandbox", "sandbox")

    def advance(self, body: Any) -> Any:
        """Lets time pass."""
        return self._ask("advanceSandbox", body=body)


class Bellhop(_Group):
    """Holds no connection and needs no end. Names of fields are those of the API (docs/api.md)."""

    def __init__(
        self,
        *,
        url: str | None = None,
        api_key: str | None = None,
        timeout: float = 30.0,
        max_retries: int = 3,
        retry_delay: float = 0.25,
    ) -> None:
        """``url`` and ``api_key`` are by default ``BELLHOP_URL`` and ``BELLHOP_API_KEY``. Times are in seconds."""
        transport = Transport(url, api_key, timeout, max_retries, retry_delay)
        super().__init__(transport)
        self.tasks = Tasks(transport)
        self.queues = Queues(transport)
        self.schedules = Schedules(transport)
        self.tokens = Tokens(transport)
        self.webhooks = Webhooks(transport)
        self.api_keys = ApiKeys(transport)
        self.signing_secret = SigningSecret(transport)
        self.stats = Stats(transport)
        self.sandbox = Sandbox(transport)

    def events(
        self,
        *,
        types: Sequence[str] | None = None,
        queue: str | None = None,
        tag: str | None = None,
        last_event_id: str | None = None,
    ) -> Iterator[Event]:
        """What happens, as it happens. The first event is ``ready``; a broken connection is resumed."""
        return read_events(self._transport, types=types, queue=queue, tag=tag, last_event_id=last_event_id)

    def resolve_callback(self, callback_id: str, body: Any = None) -> Any:
        return self._ask("resolveCallback", "task", id=callback_id, body=body)

    def providers(self) -> list[Provider]:
        return cast("list[Provider]", self._all("listProviders", "providers"))

    def me(self) -> Me:
        """Who is calling, and what they may do."""
        return cast(Me, self._ask("getMe"))

    def system(self) -> SystemState:
        """The nodes and the database, for the operator's own team."""
        return cast(SystemState, self._ask("getSystem"))
