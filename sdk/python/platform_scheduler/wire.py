"""Calls of the worker protocol over http.client."""

import http.client
import ipaddress
import json
import os
import random
import socket
import ssl
import threading
import time
from typing import Any, Dict, List, NamedTuple, Optional, Tuple
from urllib.parse import urlsplit

# The largest answer that is read; a server sends 1 MiB at most.
MAX_ANSWER = 8 << 20
CONNECT_SECONDS = 15.0
# After so long another server is chosen, so that the load evens out.
CHOOSE_SECONDS = 600.0


class CallFailed(Exception):
    """No answer came, or none of the protocol."""


class Refused(Exception):
    """An answer that is not a success."""

    def __init__(self, status: int, code: str, detail: str, retry_after: float):
        super().__init__(detail or f"the server answers {status}")
        self.status, self.code, self.retry_after = status, code, retry_after


class Server(NamedTuple):
    """The address of a node."""

    secure: bool
    host: str
    port: int
    prefix: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}{self.prefix}"


def server_of(url: str, allow_plain: bool) -> Server:
    """Reads the address of a node, and refuses plain http to other machines."""
    parts = urlsplit(url.strip())
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in ("http", "https") or not parts.hostname or port == -1:
        raise ValueError(f"{url!r} is no address of a server: write https://host:port")
    if parts.query or parts.fragment or parts.username or parts.password:
        raise ValueError("an address of a server has no user, query or fragment: write https://host:port")
    secure = parts.scheme == "https"
    if not secure and not allow_plain and not _loopback(parts.hostname):
        raise ValueError(
            f"{url!r} would send the token in plain text: use https, or allow_plain=True inside a safe network"
        )
    return Server(secure, parts.hostname, port or (443 if secure else 80), parts.path.rstrip("/"))


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Token:
    """The token of the worker group: a text, or a file that is read anew when it has changed."""

    def __init__(self, text: Optional[str], file: Optional[str]):
        if bool(text) == bool(file):
            raise ValueError("give the token of the worker group: token_file=… or token=…")
        self._file = file
        self._lock = threading.Lock()
        self._seen: Any = None
        self._text = _token(text, "the token") if text else ""
        self.get()

    def get(self, again: bool = False) -> str:
        """The token as it is now. A file that cannot be read any more leaves the former one."""
        if self._file is None:
            return self._text
        with self._lock:
            try:
                now = os.stat(self._file)
                seen = (now.st_mtime_ns, now.st_size, now.st_ino)
                if again or seen != self._seen:
                    with open(self._file, encoding="utf-8") as f:
                        self._text = _token(f.read(4097), f"the file {self._file}")
                    self._seen = seen
            except (OSError, ValueError):
                if not self._text:
                    raise
            return self._text


def _token(text: str, where: str) -> str:
    text = text.strip()
    if not text or len(text) > 4096 or not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError(f"{where} holds no token: it begins with psw_ and is one word")
    return text


class Servers:
    """The nodes that may be called, and the one that is called now."""

    def __init__(self, servers: List[Server]):
        self._lock = threading.Lock()
        self._servers = list(servers)
        random.shuffle(self._servers)
        self._at = 0
        self._chosen = time.monotonic()

    def __len__(self) -> int:
        return len(self._servers)

    def now(self) -> Server:
        with self._lock:
            if time.monotonic() - self._chosen > CHOOSE_SECONDS:
                self._at, self._chosen = random.randrange(len(self._servers)), time.monotonic()
            return self._servers[self._at]

    def next(self, failed: Server) -> None:
        """Goes to the next server, unless another call has done so since."""
        with self._lock:
            if self._servers[self._at] == failed:
                self._at, self._chosen = (self._at + 1) % len(self._servers), time.monotonic()


class Line:
    """One connection at a time, for one thread. Only close may come from another one."""

    def __init__(self, token: Token, tls: Optional[ssl.SSLContext], agent: str):
        self._token, self._tls, self._agent = token, tls, agent
        self._connection: Optional[http.client.HTTPConnection] = None
        self._server: Optional[Server] = None
        self._fresh = True

    def call(self, server: Server, path: str, body: Dict[str, Any], seconds: float) -> Dict[str, Any]:
        """Makes a call and returns its answer; no redirect is followed.

        A connection that the server has closed while it was idle is opened once more: each call of the protocol may be
        repeated.
        """
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        for _ in range(2):
            self._fresh = self._connection is None or self._server != server
            try:
                return self._once(server, path, data, seconds)
            except (ConnectionResetError, BrokenPipeError, http.client.BadStatusLine) as e:
                self.close()
                if self._fresh:
                    raise CallFailed(f"{server}: {e or type(e).__name__}") from None
            except (OSError, http.client.HTTPException, ValueError, RecursionError) as e:
                self.close()
                raise CallFailed(f"{server}: {e or type(e).__name__}") from None
        raise CallFailed(f"{server}: the connection was closed")

    def _once(self, server: Server, path: str, data: bytes, seconds: float) -> Dict[str, Any]:
        if self._fresh:
            self.close()
            self._connection, self._server = self._open(server), server
        c = self._connection
        assert c is not None
        until = time.monotonic() + seconds
        c.sock.settimeout(seconds)
        c.request("POST", server.prefix + path, data, {
            "Authorization": "Bearer " + self._token.get(), "Content-Type": "application/json",
            "Accept": "application/json", "User-Agent": self._agent,
        })
        response = c.getresponse()
        raw = bytearray()
        while True:
            left = until - time.monotonic()
            if left <= 0:
                raise OSError("the answer did not end in time")
            if c.sock is not None:
                c.sock.settimeout(left)
            part = response.read1(64 << 10)
            if not part:
                break
            raw += part
            if len(raw) > MAX_ANSWER:
                raise OSError("the answer is too large")
        ends = response.will_close
        response.close()  # read1 does not, and the connection would take no further request
        if ends:
            self.close()
        return _read(response, bytes(raw))

    def _open(self, server: Server) -> http.client.HTTPConnection:
        c: http.client.HTTPConnection
        if server.secure:
            c = http.client.HTTPSConnection(server.host, server.port, timeout=CONNECT_SECONDS, context=self._tls)
        else:
            c = http.client.HTTPConnection(server.host, server.port, timeout=CONNECT_SECONDS)
        c.connect()
        c.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return c

    def close(self) -> None:
        c, self._connection = self._connection, None
        if c is None:
            return
        try:
            if c.sock is not None:
                c.sock.shutdown(socket.SHUT_RDWR)  # this also ends a read of another thread
        except OSError:
            pass
        c.close()


def _read(response: http.client.HTTPResponse, raw: bytes) -> Dict[str, Any]:
    status = response.status
    try:
        answer = json.loads(raw.decode("utf-8"), parse_constant=_no_constant) if raw else {}
    except (ValueError, RecursionError):
        if 200 <= status < 300:
            raise ValueError("the answer is no JSON") from None
        answer = {}
    if not isinstance(answer, dict):
        answer = {}
    if 200 <= status < 300:
        return answer
    code, detail = str(answer.get("code") or ""), str(answer.get("detail") or "")
    if 300 <= status < 400:
        detail = f"the server answers {status}, a redirect: name the address that it leads to"
    raise Refused(status, code, detail[:1000], _seconds(response.getheader("Retry-After")))


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _seconds(header: Optional[str]) -> float:
    try:
        return min(max(float(header or 0), 0.0), 60.0)
    except ValueError:
        return 0.0


def tls_context(ca_file: Optional[str]) -> ssl.SSLContext:
    """Trusts the authorities of the machine, or those of the file alone."""
    context = ssl.create_default_context(cafile=ca_file or None)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def addresses(servers: Any, allow_plain: bool) -> Tuple[Server, ...]:
    """Reads a text with commas, or a list of texts."""
    texts = servers.split(",") if isinstance(servers, str) else list(servers)
    texts = [t for t in texts if t.strip()]
    if not texts:
        raise ValueError("name at least one server: https://host:port")
    return tuple(server_of(t, allow_plain) for t in texts)
