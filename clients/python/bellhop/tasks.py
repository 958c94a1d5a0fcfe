"""Tasks: created, followed, changed."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from typing import Any, cast

from .errors import ApiError, BellhopError, NoAnswer
from .transport import Transport
from .types import (
    BatchAnswer,
    Bulk,
    CreateBulk,
    CreatedDirectTask,
    CreatedTask,
    CreateDirectTask,
    CreateTask,
    DeletedTask,
    DirectTask,
    DirectTaskSummary,
    Explanation,
    RetryTask,
    Task,
    TaskList,
    TaskSummary,
)

#: Short of what proxies commonly allow an answer to take.
LONGEST_WAIT = 25
#: For the answer to a wait, once that is over.
ANSWER = 10.0
SHORTEST_LOOK = 0.25


class Bulks:
    """One action on all tasks that match a filter, worked off by the server."""

    def __init__(self, transport: Transport) -> None:
        self._send = transport.send

    def start(self, action: CreateBulk) -> Bulk:
        return cast(Bulk, self._send("createBulk", body=action).json["bulk"])

    def count(self, action: CreateBulk) -> int:
        """How many tasks it would be about."""
        body: dict[str, Any] = {**cast("dict[str, Any]", action), "dry_run": True}
        return int(self._send("createBulk", body=body, repeatable=True).json["matched"])

    def get(self, bulk_id: str) -> Bulk:
        return cast(Bulk, self._send("getBulk", id=bulk_id).json["bulk"])

    def list(self) -> Iterator[Bulk]:
        """All bulk actions, newest first."""
        query: dict[str, Any] = {}
        while True:
            page = self._send("listBulks", query=query).json
            yield from page["bulks"]
            if page["pagination"]["nextCursor"] is None:
                return
            query = {"cursor": page["pagination"]["nextCursor"]}

    def stop(self, bulk_id: str) -> Bulk:
        return cast(Bulk, self._send("stopBulk", id=bulk_id).json["bulk"])


class Tasks:
    def __init__(self, transport: Transport) -> None:
        self._send = transport.send
        self.bulk = Bulks(transport)

    def create(self, task: CreateTask, *, idempotency_key: str | None = None) -> CreatedTask:
        """Hands over a job for a queue."""
        return cast(CreatedTask, self._create(task.get("idempotency_key"), task, idempotency_key))

    def call(self, task: CreateDirectTask, *, idempotency_key: str | None = None) -> CreatedDirectTask:
        """Hands over a request to make as given."""
        return cast(CreatedDirectTask, self._create(task.get("idempotencyKey"), task, idempotency_key))

    def _create(self, own_key: str | None, task: Any, given: str | None) -> Any:
        if own_key is not None and given is not None and own_key != given:
            raise BellhopError("The task has another idempotency key than the call")
        # With a key the same request twice makes one task, so it may be repeated when no answer came.
        key = given or own_key or str(uuid.uuid4())
        return self._send("createTask", body=task, headers={"idempotency-key": key}, repeatable=True).json

    def create_many(self, tasks: Sequence[CreateTask | CreateDirectTask], *, atomic: bool = False) -> BatchAnswer:
        """Hands over up to 1000 tasks of either kind; each has its own result. With ``atomic`` all are stored, or none."""
        keyed = [_keyed(task) for task in tasks]
        body = {"tasks": keyed, "atomic": atomic}
        return cast(BatchAnswer, self._send("createTasks", body=body, repeatable=True).json)

    def get(self, task_id: str) -> Task | DirectTask:
        return self._record(self._send("getTask", id=task_id).json)

    def page(self, **query: Any) -> TaskList:
        """One page."""
        return cast(TaskList, self._send("listTasks", query=query).json)

    def list(self, **query: Any) -> Iterator[TaskSummary | DirectTaskSummary]:
        """All tasks that match, newest first; ``limit`` is the size of the pages they are fetched in."""
        while True:
            page = self.page(**query)
            yield from page["tasks"]
            cursor = page["pagination"]["nextCursor"]
            if cursor is None:
                return
            query = {**query, "offset": None, "cursor": cursor}

    def delete(self, task_id: str) -> DeletedTask:
        """Removes a pending task."""
        return cast(DeletedTask, self._send("deleteTask", id=task_id).json)

    def cancel(self, task_id: str) -> Task | DirectTask:
        """Ends a task in any state."""
        return self._record(self._send("cancelTask", id=task_id).json)

    def dismiss(self, task_id: str) -> Task | DirectTask:
        """Marks a failed task as one that nobody needs to look at any more."""
        return self._record(self._send("dismissTask", id=task_id).json)

    def retry(self, task_id: str, body: RetryTask | None = None) -> Task | DirectTask:
        """Makes a failed or cancelled task pending again, under its id."""
        return self._record(self._send("retryTask", id=task_id, body=body or {}).json)

    def resend_notification(self, task_id: str) -> Task | DirectTask:
        return self._record(self._send("resendTaskNotification", id=task_id).json)

    def explain(self, task_id: str) -> Explanation:
        """Why a task does not run."""
        return cast(Explanation, self._send("explainTask", id=task_id).json)

    def wait(self, task_id: str, timeout: float = 300.0) -> Task | DirectTask:
        """Until the task has ended, one way or another; ``NoAnswer`` if it has not within ``timeout`` seconds."""
        deadline = time.monotonic() + timeout
        while True:
            asked_at = time.monotonic()
            left = max(0.0, deadline - asked_at)
            task = self._look(task_id, min(LONGEST_WAIT, int(left) + 1 if left > 0 else 0))
            if ("completed_at" in task) or ("completedAt" in task):
                return task
            if time.monotonic() >= deadline:
                raise NoAnswer(f"Task {task_id} is {task['status']} after {timeout} s")
            # A server that stops answers at once.
            time.sleep(max(0.0, asked_at + SHORTEST_LOOK - time.monotonic()))

    def _look(self, task_id: str, wait: int) -> Task | DirectTask:
        try:
            answer = self._send("getTask", id=task_id, query={"wait": wait}, timeout=wait + ANSWER)
        except ApiError as error:
            # So many wait already that the server holds no further answer back.
            if error.code != "too_many_waiting":
                raise
            return self.get(task_id)
        return self._record(answer.json)

    @staticmethod
    def _record(answer: Any) -> Task | DirectTask:
        """A direct task stands in an envelope."""
        return cast("Task | DirectTask", answer.get("task", answer))


def _keyed(task: CreateTask | CreateDirectTask) -> dict[str, Any]:
    name = "idempotencyKey" if "targetUrl" in task else "idempotency_key"
    fields = cast("dict[str, Any]", task)
    return {**fields, name: fields.get(name) or str(uuid.uuid4())}
