"""A small gateway for tests: it answers as it is told, and remembers what it was asked."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, Optional, Tuple

# How long a test waits for an event. A test that waits so long fails.
LONG = 30.0


class Gateway:
    """Serves the calls of a worker. Scripts replace its answers, each once; one that returns None waits."""

    def __init__(self) -> None:
        self.cond = threading.Condition()
        self.calls: List[Tuple[str, Dict[str, Any]]] = []
        self.tokens: List[str] = []
        self.scripts: Dict[str, List[Callable[[Dict[str, Any]], Any]]] = {"register": [], "poll": [], "report": [], "jobs": []}
        self.queue: List[Dict[str, Any]] = []
        self.cancels: List[Dict[str, Any]] = []
        self.entry = {"beatMs": 5000, "leaseMs": 20000, "waitMs": 5000}
        self.epoch = 0
        self.newest = 0
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                gateway._serve(self)

            def log_message(self, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *args: Any) -> None:
                """A worker that ends closes its connections."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def run(self, name: str, handler: str, **fields: Any) -> None:
        """Puts a run into the answer to the next poll with a free slot."""
        with self.cond:
            self.queue.append({
                "executionId": name, "token": 7, "attempt": 1, "kind": "HANDLER", "handler": handler, "jobName": name,
                **fields,
            })
            self.cond.notify_all()

    def cancel(self, name: str, reason: str) -> None:
        with self.cond:
            self.cancels.append({"executionId": name, "token": 7, "reason": reason})
            self.cond.notify_all()

    def wait(self, true: Callable[[], Any], what: str) -> Any:
        with self.cond:
            self.cond.wait_for(true, LONG)
            got = true()
        if not got:
            raise AssertionError(f"never: {what}; calls: {self.calls[-5:]}")
        return got

    def of(self, kind: str) -> List[Dict[str, Any]]:
        return [body for k, body in self.calls if k == kind]

    def items(self, name: str) -> List[Dict[str, Any]]:
        return [i for body in self.of("report") for i in body["items"] if i["executionId"] == name]

    def ended(self, name: str) -> Dict[str, Any]:
        """Waits for the end of a run, and returns the item."""
        return self.wait(lambda: [i for i in self.items(name) if "end" in i], f"the end of {name}")[0]

    def lines(self, name: str) -> List[str]:
        """The lines of a run by their numbers, as a server takes them."""
        out: List[str] = []
        for item in self.items(name):
            for i, line in enumerate(item.get("lines", [])):
                if item["lineFrom"] + i == len(out) + 1:
                    out.append(line)
        return out

    def _serve(self, h: BaseHTTPRequestHandler) -> None:
        body = json.loads(h.rfile.read(int(h.headers["Content-Length"])))
        kind = "register" if h.path.endswith("/workers") else h.path.rsplit("/", 1)[1]
        with self.cond:
            self.calls.append((kind, body))
            self.tokens.append(h.headers["Authorization"])
            self.cond.notify_all()
            scripts = self.scripts.get(kind)
            answer = scripts[0](body) if scripts else None
            if scripts and answer is not None:
                scripts.pop(0)
        if answer is None:
            answer = getattr(self, "_" + kind)(body)
        if answer == "cut":
            h.close_connection = True
            h.connection.shutdown(socket.SHUT_RDWR)
            return
        status, content = answer if isinstance(answer, tuple) else (200, answer)
        data = json.dumps(content).encode()
        h.send_response(status)
        h.send_header("Content-Type", "application/json")
        h.send_header("Content-Length", str(len(data)))
        if 300 <= status < 400:
            h.send_header("Location", self.url + "/elsewhere")
        h.end_headers()
        h.wfile.write(data)

    def _register(self, body: Dict[str, Any]) -> Any:
        with self.cond:
            self.epoch += 1
            self.newest = 0
            return 201, {
                "workerId": "@shop.abc", "epoch": self.epoch, "protocol": 1, "maxRuns": 100, "maxItems": 500,
                "unknown": {"deep": [1]}, **self.entry,
            }

    def _jobs(self, body: Dict[str, Any]) -> Any:
        return {"jobs": [{"group": "orders", "name": j["name"], "outcome": "CREATED"} for j in body["jobs"]]}

    def _poll(self, body: Dict[str, Any]) -> Any:
        seq = body["seq"]
        with self.cond:
            self.newest = max(self.newest, seq)
            self.cond.notify_all()
            held = lambda: [c for c in self.cancels if f"{c['executionId']}:{c['token']}" in body["running"]]
            self.cond.wait_for(
                lambda: self.newest != seq or body["stopping"] or held() or (self.queue and body["free"]),
                body["waitMs"] / 1000,
            )
            answer = {"seq": seq, "leaseSeq": seq, **self.entry}
            if self.newest != seq:
                return {"seq": seq}
            if held():
                answer["cancel"] = held()
                self.cancels = [c for c in self.cancels if c not in answer["cancel"]]
            if not body["stopping"]:
                answer["runs"], self.queue = self.queue[: body["free"]], self.queue[body["free"]:]
            return answer

    def _report(self, body: Dict[str, Any]) -> Any:
        return {"items": [receipt(i) for i in body["items"]]}

    def _leave(self, body: Dict[str, Any]) -> Any:
        return 204, {}


def receipt(item: Dict[str, Any], kind: Optional[str] = "ACCEPTED") -> Dict[str, Any]:
    """The answer to an item of a report."""
    answer = {"executionId": item["executionId"], "token": item["token"]}
    if "lines" in item:
        answer["line"] = item["lineFrom"] + len(item["lines"]) - 1
    if "end" in item:
        answer["receipt"] = kind
    return answer
