"""A worker against a small gateway."""

import asyncio
import os
import signal
import tempfile
import threading
import unittest

from platform_scheduler import Fatal, RetryAfter, Worker, WorkerError

from .gateway import LONG, Gateway, receipt


class Base(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)

    def worker(self, handlers, **options):
        w = Worker(options.pop("servers", self.gateway.url), token="psw_x", group="shop", instance="a", **options)
        for name, function in handlers.items():
            w.handle(name, function)
        return w

    def start(self, handlers, **options):
        w = self.worker(handlers, **options)
        w.start()

        def end():
            w.stop(0)
            try:
                w.join(LONG)
            except WorkerError:
                pass

        self.addCleanup(end)
        return w

    def drained(self, w, grace=LONG):
        w.stop(grace)
        self.assertTrue(w.join(LONG), "it drains")
        self.assertEqual(1, len(self.gateway.of("leave")))


class Declares(Base):
    def declared(self, handlers, calls=1):
        """Starts a worker that declares jobs for its handlers, and waits for what it logs of the last one."""
        w = self.worker({})
        for name, fields in handlers.items():
            w.job(name, **fields)(lambda: "done")
        with self.assertLogs("platform_scheduler", "INFO") as logged:
            w.start()
            self.gateway.wait(lambda: len(self.gateway.of("jobs")) == calls, "the declaration")
            self.gateway.run("e1", "settle")
            self.gateway.ended("e1")  # the worker works, whatever came of it
            for t in [t for t in threading.enumerate() if t.name == "ps-declare"]:
                t.join(LONG)
            self.drained(w)
        return [r.getMessage() for r in logged.records]

    def test_jobs_are_declared_after_the_registration(self):
        said = self.declared({
            "settle": {"schedule": "0 0 2 * * ?", "jobData": {"a": 1}, "timeoutSec": 60},
            "clean": {"name": "clean up", "group": "orders", "schedule": {"kind": "FIXED_RATE", "intervalMs": 60000}},
            "plain": {},
        })
        self.assertEqual({"epoch": 1, "jobs": [
            {"name": "settle", "jobClass": "settle", "schedule": {"cronExpression": "0 0 2 * * ?"}, "jobData": {"a": 1},
             "timeoutSec": 60},
            {"name": "clean up", "jobClass": "clean", "group": "orders",
             "schedule": {"kind": "FIXED_RATE", "intervalMs": 60000}},
        ]}, self.gateway.of("jobs")[0])
        self.assertTrue([line for line in said if "clean up" in line and "created" in line], said)
        self.assertEqual(1, len(self.gateway.of("jobs")))

    def test_what_came_of_each_job_is_logged(self):
        self.gateway.scripts["jobs"].append(lambda body: {"jobs": [
            {"group": "o", "name": "a", "outcome": "EXISTS"},
            {"group": "o", "name": "b", "outcome": "DIFFERS", "differs": ["timeoutSec", "schedule.cronExpression"]},
            {"group": "o", "name": "c", "outcome": "REFUSED",
             "errors": [{"field": "group", "code": "x", "message": "must be orders"}]}, 7,
        ]})
        said = "\n".join(self.declared({"settle": {"schedule": "0 0 2 * * ?"}}))
        self.assertIn("o/a exists", said)
        self.assertIn("o/b differs in timeoutSec, schedule.cronExpression", said)
        self.assertIn("o/c was refused: group: must be orders", said)

    def test_a_refusal_does_not_stop_the_worker(self):
        self.gateway.scripts["jobs"].append(lambda body: (403, {"code": "declare_not_allowed", "detail": "may not"}))
        said = self.declared({"settle": {"schedule": "0 0 2 * * ?"}})
        self.assertTrue([line for line in said if "not declared" in line and "may not" in line], said)

    def test_a_lost_answer_is_asked_for_again(self):
        self.gateway.scripts["jobs"] += [lambda body: "cut", lambda body: (503, {"code": "store_away"})]
        self.declared({"settle": {"schedule": "0 0 2 * * ?"}}, calls=3)
        self.assertEqual(1, len({str(body) for body in self.gateway.of("jobs")}))

    def test_what_is_no_json_is_refused_at_once(self):
        w = self.worker({})
        with self.assertRaisesRegex(ValueError, "'settle' cannot be declared"):
            w.declare("settle", jobData={"a": object()})


class Ends(Base):
    def test_a_run_succeeds_with_its_result(self):
        w = self.start({"greet": lambda run, name, to="x": f"{name}, {to}"})
        self.gateway.run("e1", "greet", data={"name": "a", "to": "b"}, params={"to": "ä"})
        item = self.gateway.ended("e1")
        self.assertEqual(("SUCCESS", "a, ä"), (item["end"]["status"], item["end"]["result"]))
        self.assertEqual(7, item["token"])
        self.drained(w)
        entry = self.gateway.of("register")[0]
        self.assertEqual((1, "shop", "a", 8, ["greet"]), tuple(
            entry[k] for k in ("protocol", "group", "instance", "slots", "handlers")))
        self.assertEqual({"Bearer psw_x"}, set(self.gateway.tokens))

    def test_failures_say_what_the_handler_raised(self):
        def fail():
            raise ValueError("it failed")

        def fatal():
            raise Fatal("no use")

        def later():
            raise RetryAfter(60, "later")

        def leave():
            raise SystemExit("gone")

        self.start({"fail": fail, "fatal": fatal, "later": later, "leave": leave, "needs": lambda account: account})
        for name in ("fail", "fatal", "later", "leave", "needs"):
            self.gateway.run(name, name)
        end = {n: self.gateway.ended(n)["end"] for n in ("fail", "fatal", "later", "leave", "needs")}
        self.assertEqual(("FAILED", "ERROR", "ValueError: it failed"), tuple(
            end["fail"][k] for k in ("status", "reason", "message")))
        self.assertIn("Traceback", "".join(self.gateway.lines("fail")))
        self.assertEqual((True, "no use"), (end["fatal"]["noRetry"], end["fatal"]["message"]))
        self.assertEqual((60000, "later"), (end["later"]["retryAfterMs"], end["later"]["message"]))
        self.assertEqual("PANIC", end["leave"]["reason"])
        self.assertTrue(end["needs"]["noRetry"], "data that do not fit will not fit at the next attempt")
        self.assertIn("account", end["needs"]["message"])

    def test_a_handler_that_is_not_there_gives_the_run_back(self):
        self.start({"ok": lambda: None}, slots=1)
        self.gateway.run("e1", "other")
        self.gateway.run("e2", "ok")
        self.assertEqual("RETURNED", self.gateway.ended("e1")["end"]["status"])
        self.assertEqual("SUCCESS", self.gateway.ended("e2")["end"]["status"], "its slot is free again")

    def test_a_result_is_cut_between_characters(self):
        self.start({"big": lambda: "ä" * 40000})
        self.gateway.run("e1", "big")
        result = self.gateway.ended("e1")["end"]["result"]
        self.assertLessEqual(len(result.encode()), 64 << 10)
        self.assertGreater(len(result.encode()), (64 << 10) - 8)

    def test_lines_progress_and_checkpoint_arrive_in_order(self):
        def work(run):
            self.assertEqual("c0", run.last_checkpoint)
            for i in range(2000):
                run.log("line %s", i).progress(i // 20).checkpoint(i)
            run.log("x" * 9000)

        self.start({"work": work})
        self.gateway.run("e1", "work", checkpoint="c0")
        item = self.gateway.ended("e1")
        self.assertEqual(("SUCCESS", "1999", 99), (item["end"]["status"], item["checkpoint"], item["progress"]))
        lines = self.gateway.lines("e1")
        self.assertEqual([f"line {i}" for i in range(2000)], lines[:2000])
        self.assertEqual(8 << 10, len(lines[2000].encode()))


class Stops(Base):
    @unittest.skipUnless(hasattr(signal, "pthread_kill"), "Windows gives signals otherwise")
    def test_a_signal_that_another_thread_gets_drains(self):
        """The system gives a signal of the process to any thread; only the main thread acts on it, once it wakes."""
        w = self.worker({"settle": lambda: "done"})
        late = []

        def signals():
            self.gateway.wait(lambda: self.gateway.of("poll"), "a poll")
            signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
            if not w.join(LONG):
                late.append("the worker goes on after the signal")
                w.stop(0)

        other = threading.Thread(target=signals)
        other.start()
        w.run()
        other.join(LONG)
        self.assertEqual([], late)
        self.assertEqual(1, len(self.gateway.of("leave")))

    def test_a_time_out_stops_both_kinds_of_handlers(self):
        async def nap():
            await asyncio.sleep(LONG)

        self.start({"sleep": lambda run: run.sleep(LONG), "nap": nap})
        self.gateway.run("e1", "sleep", timeoutMs=50)
        self.gateway.run("e2", "nap", timeoutMs=50)
        for name in ("e1", "e2"):
            self.assertEqual("TIMEOUT", self.gateway.ended(name)["end"]["status"])
            self.assertEqual(1, len([i for i in self.gateway.items(name) if "end" in i]))

    def test_a_cancel_stops_one_of_three(self):
        go = threading.Event()
        self.start({"sleep": lambda run: run.sleep(LONG), "wait": lambda: go.wait(LONG)})
        self.gateway.run("e1", "wait")
        self.gateway.run("e2", "sleep")
        self.gateway.run("e3", "wait")
        self.gateway.wait(lambda: len(self.gateway.of("poll")[-1:][0]["running"]) == 3 if self.gateway.of("poll")
                          else False, "three that run")
        self.gateway.cancel("e2", "cancel")
        self.assertEqual("CANCELLED", self.gateway.ended("e2")["end"]["status"])
        self.assertEqual([], self.gateway.items("e1"))
        go.set()
        self.assertEqual("SUCCESS", self.gateway.ended("e3")["end"]["status"])

    def test_a_first_signal_after_a_stop_waits_for_the_runs(self):
        go = threading.Event()
        w = self.worker({"wait": lambda: go.wait(LONG)})
        self.gateway.run("e1", "wait")

        def ends():
            self.gateway.wait(lambda: [p for p in self.gateway.of("poll") if p["running"]], "a run")
            w.stop(LONG)
            os.kill(os.getpid(), signal.SIGTERM)
            go.set()

        other = threading.Thread(target=ends)
        other.start()
        w.run()
        other.join(LONG)
        self.assertEqual("SUCCESS", self.gateway.ended("e1")["end"]["status"])

    def test_a_drain_releases_what_does_not_end_in_its_grace(self):
        entered = threading.Event()

        def work(run):
            run.checkpoint("row 7")
            entered.set()
            run.sleep(LONG)

        w = self.start({"work": work})
        self.gateway.run("e1", "work")
        self.assertTrue(entered.wait(LONG))
        self.drained(w, grace=0.05)
        item = self.gateway.ended("e1")
        self.assertEqual(("RELEASED", "row 7"), (item["end"]["status"], item["checkpoint"]))

    def test_a_drain_waits_for_the_receipt_and_begins_nothing(self):
        go, entered = threading.Event(), threading.Event()

        def work():
            entered.set()
            go.wait(LONG)
            return "done"

        w = self.start({"work": work})
        self.gateway.run("e1", "work")
        self.assertTrue(entered.wait(LONG))
        self.gateway.scripts["poll"] = [lambda body: {
            "seq": body["seq"], "runs": [{"executionId": "late", "token": 7, "attempt": 1, "handler": "work"}],
        } if body["stopping"] else None]
        w.stop(LONG)
        self.gateway.wait(lambda: [p for p in self.gateway.of("poll") if p["stopping"]], "a poll that stops")
        self.assertEqual("RETURNED", self.gateway.ended("late")["end"]["status"])
        self.gateway.scripts["report"] = [lambda body: {"items": [receipt(i, "RETRY") for i in body["items"]]}]
        go.set()
        self.assertTrue(w.join(LONG))
        self.assertEqual(2, len([i for i in self.gateway.items("e1") if "end" in i]))
        self.assertEqual(1, len(self.gateway.of("leave")))

    def test_the_end_of_the_lease_tells_handlers_and_registers_anew(self):
        self.gateway.entry = {"beatMs": 100, "leaseMs": 400, "waitMs": 100}
        reason, done = [], threading.Event()

        def work(run):
            try:
                run.sleep(LONG)
            finally:
                reason.append(run.stop_reason)
                done.set()

        self.start({"work": work})
        self.gateway.run("e1", "work")
        self.gateway.wait(lambda: any(p["running"] for p in self.gateway.of("poll")), "a poll that names it")
        self.gateway.scripts["poll"] = [lambda body: "cut"] * 1000
        self.assertTrue(done.wait(LONG))
        self.gateway.scripts["poll"] = []
        self.assertEqual(["lost"], reason)
        self.gateway.wait(lambda: len(self.gateway.of("register")) == 2, "a second registration")
        boots = [b["bootId"] for b in self.gateway.of("register")]
        self.assertNotEqual(boots[0], boots[1])
        self.assertEqual([], self.gateway.items("e1"), "the new life says nothing of the old one's")


class Calls(Base):
    def test_an_answer_that_was_lost_starts_its_run_once(self):
        begun = []
        self.start({"work": lambda run: begun.append(run.execution_id)})
        run = {"executionId": "e1", "token": 7, "attempt": 1, "handler": "work"}
        self.gateway.scripts["poll"] = [
            lambda body: "cut",
            lambda body: {"seq": body["seq"], "runs": [run, run]},
            lambda body: {"seq": body["seq"], "runs": [run]},
        ]
        self.gateway.ended("e1")
        self.gateway.wait(lambda: len(self.gateway.of("poll")) > 4, "more polls")
        self.assertEqual(["e1"], begun)

    def test_an_end_is_sent_until_it_has_its_receipt(self):
        self.start({"ok": lambda: "r"}, slots=1)
        self.gateway.scripts["report"] = [
            lambda body: "cut", lambda body: (503, {}), lambda body: {"items": [receipt(body["items"][0], "RETRY")]},
        ]
        self.gateway.run("e1", "ok")
        self.gateway.run("e2", "ok")
        self.gateway.ended("e2")
        ends = [i["end"]["result"] for i in self.gateway.items("e1") if "end" in i]
        self.assertGreaterEqual(len(ends), 4)
        self.assertEqual({"r"}, set(ends))
        first = [k for k, b in self.gateway.calls if k == "report"]
        self.assertGreaterEqual(len(first), 5, "the second run began after the receipt of the first one")

    def test_one_item_that_is_refused_harms_no_other(self):
        def bad(body):
            if any(i.get("checkpoint") == "bad" for i in body["items"]):
                return 422, {"code": "validation"}
            return None

        self.gateway.scripts["report"] = [bad] * 50
        self.start({"bad": lambda run: run.checkpoint("bad") and None, "ok": lambda: "r"})
        self.gateway.run("e1", "bad")
        self.gateway.run("e2", "ok")
        accepted = lambda n: [i for i in self.gateway.items(n) if "end" in i and i.get("checkpoint") != "bad"]
        self.assertTrue(self.gateway.wait(lambda: accepted("e1"), "the end alone"))
        self.assertTrue(self.gateway.wait(lambda: accepted("e2"), "the other one"))

    def test_a_server_that_is_away_is_left_for_the_next(self):
        gone = Gateway()
        gone.close()
        self.start({"ok": lambda: None}, servers=[gone.url, self.gateway.url])
        self.gateway.run("e1", "ok")
        self.gateway.ended("e1")

    def test_no_redirect_is_followed(self):
        self.gateway.scripts["register"] = [lambda body: (307, {})] * 3
        w = self.worker({"ok": lambda: None})
        w.start()
        with self.assertRaisesRegex(WorkerError, "redirect"):
            w.join(LONG)
        self.assertEqual(["register"], [k for k, _ in self.gateway.calls])

    def test_a_protocol_that_is_refused_ends_the_worker(self):
        self.gateway.scripts["register"] = [lambda body: (409, {"code": "protocol_unknown", "detail": "it speaks 2"})]
        w = self.worker({"ok": lambda: None})
        w.start()
        with self.assertRaisesRegex(WorkerError, "it speaks 2"):
            w.join(LONG)

    def test_a_name_in_use_is_waited_for(self):
        self.gateway.scripts["register"] = [lambda body: (409, {"code": "instance_in_use"})]
        self.start({"ok": lambda: None})
        self.gateway.run("e1", "ok")
        self.gateway.ended("e1")

    def test_a_token_file_is_read_anew(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "token")
            with open(file, "w") as f:
                f.write("psw_old\n")
            self.gateway.scripts["poll"] = [lambda body: (401, {"detail": "it ended"})]
            w = Worker(self.gateway.url, token_file=file, group="shop", instance="a")
            w.handle("ok", lambda: None)
            with open(file, "w") as f:
                f.write("psw_newer\n")
            w.start()
            self.gateway.wait(lambda: "Bearer psw_newer" in self.gateway.tokens, "the new token")
            w.stop(0)
            w.join(LONG)

    def test_a_token_that_is_refused_to_the_end_ends_the_worker(self):
        self.gateway.entry = {"beatMs": 100, "leaseMs": 300, "waitMs": 100}
        self.gateway.scripts["poll"] = [lambda body: (403, {"detail": "another group"})] * 1000
        w = self.worker({"ok": lambda: None})
        w.start()
        with self.assertRaisesRegex(WorkerError, "another group"):
            w.join(LONG)

    def test_beats_go_on_while_a_handler_holds_the_loop(self):
        self.gateway.entry = {"beatMs": 100, "leaseMs": 5000, "waitMs": 100}
        go = threading.Event()

        async def busy():
            go.wait(LONG)

        self.start({"busy": busy})
        self.gateway.run("e1", "busy")
        polls = lambda: [p for p in self.gateway.of("poll") if p["running"]]
        self.gateway.wait(lambda: len(polls()) > 5, "polls while the loop is held")
        go.set()

    def test_hold_keeps_the_lease(self):
        self.gateway.entry = {"beatMs": 100, "leaseMs": 400, "waitMs": 100}
        hold = lambda body: {"seq": body["seq"], "hold": True, "beatMs": 100, "waitMs": 100}
        self.gateway.scripts["poll"] = [hold] * 12
        self.start({"ok": lambda: None})
        self.gateway.wait(lambda: not self.gateway.scripts["poll"], "all that hold")
        self.gateway.run("e1", "ok")
        self.gateway.ended("e1")
        self.assertEqual(1, len(self.gateway.of("register")))


class Settings(unittest.TestCase):
    def test_plain_http_is_for_this_machine(self):
        for url in ("http://10.0.0.1:8080", "http://example.com", "ftp://a", "https://u:p@a", "https://a?x", "nonsense"):
            with self.assertRaises(ValueError, msg=url):
                Worker(url, token="psw_x", group="shop")
        Worker("http://10.0.0.1:8080", token="psw_x", group="shop", allow_plain=True)
        Worker("http://[::1]:8080, https://a:1/base", token="psw_x", group="shop")

    def test_settings_that_cannot_work_are_refused(self):
        for options in ({"slots": 0}, {"slots": 1001}, {"token": ""}, {"token": "a b"}, {"grace": -1}, {"group": ""}):
            with self.assertRaises(ValueError, msg=options):
                Worker("https://a", **{"token": "psw_x", "group": "shop", **options})
        w = Worker("https://a", token="psw_x", group="shop")
        w.handle("ok", lambda: None)
        with self.assertRaises(ValueError):
            w.handle("ok", lambda: None)


if __name__ == "__main__":
    unittest.main()
