"""Against a running server: BELLHOP_URL, BELLHOP_API_KEY and a target in TARGET. Run by packages/sdk/test/python-client.test.ts."""

from __future__ import annotations

import http.server
import json
import os
import threading
import unittest

import bellhop.types
from bellhop import ApiError, Bellhop, BellhopError, ConnectionFailed, NoAnswer, SignatureError
from bellhop import sign_webhook, verify_webhook
from bellhop.errors import read_retry_after

TARGET = os.environ["TARGET"]
SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="


class ServerTest(unittest.TestCase):
    def setUp(self) -> None:
        self.bellhop = Bellhop()

    def test_takes_a_queue_task_to_its_end(self) -> None:
        created = self.bellhop.tasks.create(
            {"queue": "default", "webhook_url": f"{TARGET}/echo", "payload": {"user_id": 42}, "tags": ["python"]}
        )
        ended = self.bellhop.tasks.wait(created["id"])
        self.assertEqual(ended["status"], "completed")
        self.assertIn("user_id", ended["result"]["body"])
        self.assertIn(created["id"], [task["id"] for task in self.bellhop.tasks.list(tag="python")])

    def test_makes_a_direct_call(self) -> None:
        created = self.bellhop.tasks.call({"targetUrl": f"{TARGET}/echo", "method": "PUT", "body": "hello"})
        self.assertEqual(self.bellhop.tasks.wait(created["task"]["id"])["status"], "completed")

    def test_makes_one_task_of_two_requests_with_one_key(self) -> None:
        task = {"queue": "default", "webhook_url": TARGET, "delay": 3600}
        ids = {self.bellhop.tasks.create(task, idempotency_key="once")["id"] for _ in range(2)}
        self.assertEqual(len(ids), 1)

    def test_explains_cancels_retries_and_deletes(self) -> None:
        tasks = self.bellhop.tasks
        id = tasks.create({"queue": "default", "webhook_url": TARGET, "delay": 3600})["id"]
        self.assertFalse(tasks.explain(id)["runnable"])
        self.assertEqual(tasks.cancel(id)["status"], "cancelled")
        self.assertEqual(tasks.retry(id, {"delay": 3600})["status"], "pending")
        tasks.delete(id)
        with self.assertRaises(ApiError) as refused:
            tasks.get(id)
        self.assertEqual((refused.exception.status, refused.exception.code), (404, "task_not_found"))
        self.assertTrue(refused.exception.request_id)

    def test_creates_many_and_acts_on_them(self) -> None:
        task = {"queue": "default", "webhook_url": TARGET, "delay": 3600, "tags": ["bulk-python"]}
        answer = self.bellhop.tasks.create_many([task, {**task, "queue": "missing"}, task])
        # The client repeats a request whose answer was late; the server then replays what the first one created.
        self.assertEqual((answer["created"] + answer["replayed"], answer["refused"]), (2, 1))
        # Pages of one: the list asks for the next.
        self.assertEqual(len(list(self.bellhop.tasks.list(tag="bulk-python", limit=1))), 2)
        action = {"action": "cancel", "filter": {"tag": "bulk-python"}}
        self.assertEqual(self.bellhop.tasks.bulk.count(action), 2)
        bulk = self.bellhop.tasks.bulk.start(action)
        self.assertEqual(self.bellhop.tasks.bulk.get(bulk["id"])["matched"], 2)

    def test_gives_up_waiting(self) -> None:
        id = self.bellhop.tasks.create({"queue": "default", "webhook_url": TARGET, "delay": 3600})["id"]
        with self.assertRaises(NoAnswer):
            self.bellhop.tasks.wait(id, timeout=0)

    def test_has_queues_schedules_tokens_and_the_rest(self) -> None:
        bellhop = self.bellhop
        self.assertEqual(bellhop.queues.create({"name": "snakes", "concurrency": 2})["concurrency"], 2)
        self.assertTrue(bellhop.queues.pause("snakes")["paused"])
        self.assertFalse(bellhop.queues.resume("snakes")["paused"])
        self.assertIn("snakes", [queue["name"] for queue in bellhop.queues.list()])
        bellhop.queues.delete("snakes")
        schedule = {"cron": "0 9 * * 1", "task": {"queue": "default", "webhook_url": TARGET}}
        self.assertEqual(bellhop.schedules.put("weekly", schedule)["cron"], "0 9 * * 1")
        self.assertTrue(bellhop.schedules.pause("weekly")["paused"])
        bellhop.schedules.delete("weekly")
        token = bellhop.tokens.create({"name": "vendor", "value": "Bearer s3cret"})
        self.assertNotIn("s3cret", json.dumps(bellhop.tokens.list()))
        bellhop.tokens.revoke(token["id"])
        self.assertEqual(bellhop.me()["team"]["name"], "Operator")
        self.assertGreater(len(bellhop.providers()), 0)
        self.assertTrue(bellhop.system()["database"]["embedded"])

    def test_reads_events(self) -> None:
        for event in self.bellhop.events(types=["task.created"], tag="seen"):
            if event.type == "ready":
                made = self.bellhop.tasks.create(
                    {"queue": "default", "webhook_url": TARGET, "delay": 3600, "tags": ["seen"]}
                )
            else:
                self.assertEqual((event.type, event.data["task"]["id"]), ("task.created", made["id"]))
                break

    def test_verifies_what_bellhop_sends(self) -> None:
        received: list[tuple[dict[str, str], bytes]] = []

        class Receiver(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                received.append((dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        receiver = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{receiver.server_port}/"
        created = self.bellhop.tasks.create({"queue": "default", "webhook_url": url, "payload": {"n": 1}})
        self.bellhop.tasks.wait(created["id"])
        receiver.shutdown()
        receiver.server_close()
        secret = self.bellhop.signing_secret.get()["secret"]
        headers, body = received[0]
        webhook = verify_webhook(body, headers, secret)
        self.assertEqual((webhook.id, webhook.payload), (created["id"], {"n": 1}))
        with self.assertRaises(SignatureError):
            verify_webhook(body + b" ", headers, secret)

    def test_is_refused_with_a_wrong_key_and_does_not_repeat_it(self) -> None:
        with self.assertRaises(ApiError) as refused:
            Bellhop(api_key="bh_live_" + "0" * 40).me()
        self.assertEqual(refused.exception.status, 401)

    def test_says_that_a_server_cannot_be_reached(self) -> None:
        with self.assertRaises(ConnectionFailed):
            Bellhop(url="http://127.0.0.1:1", max_retries=0).me()


class OfflineTest(unittest.TestCase):
    def test_refuses_signatures_that_are_old_or_absent(self) -> None:
        headers = sign_webhook("task_1", b"{}", SECRET, now=1000)
        self.assertEqual(verify_webhook(b"{}", headers, [SECRET], now=1000).payload, {})
        for wrong in ({}, headers | {"webhook-timestamp": "1001"}, headers | {"webhook-timestamp": "x"}):
            with self.assertRaises(SignatureError):
                verify_webhook(b"{}", wrong, SECRET, now=1000)
        with self.assertRaises(SignatureError):
            verify_webhook(b"{}", headers, SECRET, now=1301)
        with self.assertRaises(BellhopError):
            verify_webhook(b"{}", headers, "whsec_")

    def test_reads_retry_after_as_seconds_and_as_a_date(self) -> None:
        self.assertEqual(read_retry_after("7"), 7.0)
        self.assertEqual(read_retry_after("Thu, 01 Jan 1970 00:00:00 GMT"), 0.0)
        self.assertIsNone(read_retry_after("soon"))

    def test_waits_as_long_as_retry_after_says_and_repeats_what_may_be_repeated(self) -> None:
        answers = [(503, "database_away"), (200, None), (500, "internal")]

        class Flaky(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, code = answers.pop(0)
                body = json.dumps({"code": code, "status": "ok"}).encode()
                self.send_response(status)
                self.send_header("retry-after", "0")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Flaky)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        # A pause of its own would last an hour.
        client = Bellhop(url=f"http://127.0.0.1:{server.server_port}", api_key="bh_live_x", retry_delay=3600)
        self.assertEqual(client.me(), {"code": None, "status": "ok"})
        with self.assertRaises(ApiError):
            client.me()
        self.assertEqual(answers, [])
        server.shutdown()
        server.server_close()

    def test_addresses_no_collection_by_an_empty_id(self) -> None:
        with self.assertRaises(BellhopError):
            Bellhop(api_key="bh_live_x").queues.delete("")

    def test_has_types_that_python_understands(self) -> None:
        import typing

        for name in ("CreateTask", "Task", "Schedule", "Me", "Bulk"):
            self.assertIn("str", str(typing.get_type_hints(getattr(bellhop.types, name))))


if __name__ == "__main__":
    unittest.main()
