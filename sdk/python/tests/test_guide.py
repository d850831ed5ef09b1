"""The example of docs/workers/python.md does what the page says."""

import os
import re
import tempfile
import unittest

from .gateway import LONG, Gateway

GUIDE = os.path.join(os.path.dirname(__file__), "..", "..", "..", "docs", "workers", "python.md")


class Guide(unittest.TestCase):
    def test_the_example_runs(self):
        with open(GUIDE, encoding="utf-8") as f:
            code = re.search(r"```python\n(.*?)```", f.read(), re.S).group(1)
        gateway = Gateway()
        self.addCleanup(gateway.close)
        with tempfile.NamedTemporaryFile("w") as token:
            token.write("psw_x\n")
            token.flush()
            code = code.replace("https://a:8080,https://b:8080", gateway.url).replace("/run/ps-token", token.name)
            names = {"__name__": "guide"}
            exec(compile(code, GUIDE, "exec"), names)
            names["w"].start()
            gateway.run("report", "daily-report", data={"day": "2026-11-28"}, checkpoint="1")
            gateway.run("sync", "sync-crm", data={"account": "a"}, idempotencyKey="k")
            gateway.run("later", "sync-crm", data={"account": "a"}, params={"busy": True})
            gateway.run("never", "sync-crm", data={"account": ""})
            end = {name: gateway.ended(name) for name in ("report", "sync", "later", "never")}
            names["w"].stop()
            self.assertTrue(names["w"].join(LONG))
        self.assertEqual("3 parts", end["report"]["end"]["result"])
        self.assertEqual(["2026-11-28: part 1", "2026-11-28: part 2"], gateway.lines("report"))
        self.assertEqual(("3", 100), (end["report"]["checkpoint"], end["report"]["progress"]))
        self.assertEqual("a k", end["sync"]["end"]["result"])
        self.assertEqual(60000, end["later"]["end"]["retryAfterMs"])
        self.assertTrue(end["never"]["end"]["noRetry"])


if __name__ == "__main__":
    unittest.main()
