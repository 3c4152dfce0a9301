"""The studio's door: who may ask, and what every answer tells the browser not to do.

A server on 127.0.0.1 can be reached by every program of this machine, and by every page that a browser on it has open.
So each request must carry a token that only the terminal has shown, or the cookie that it was exchanged for; must have
been sent to our own name, because a foreign name can be made to point here; and must not come from another's page.
Cookies know no ports: the browser shows ours to every server of this machine. So it is no token, and counts only where
the browser itself says that the request is ours.
"""

from __future__ import annotations

import secrets
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BODY = 4 * 2**20
"""Bytes that a request may have."""

_TOO_LONG = f"the request has more than {MOST_BODY // 2**20} MB; send less"

_HARMLESS = ("GET", "HEAD", "OPTIONS")

# plotly makes a style element, empty, and fills it by script; this is the hash of nothing.
_EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        f"style-src 'self' {_EMPTY_STYLE}",
        "style-src-attr 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)

_ALWAYS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

_HEAD = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Dovetail studio</title>'
    '<link rel="icon" href="data:,">'
)

_ONWARD = f'{_HEAD}<meta http-equiv="refresh" content="0; url=/"></html>'

_NO_TOKEN = (
    "this studio needs its token; open the address that 'dovetail studio' has printed, with ?token= in it"
)

_NOT_OURS = (
    "this request does not come from a page of the studio; open the address that 'dovetail studio' has printed, in a "
    "browser of 2023 or later"
)


class RefusedError(Exception):
    """A request that is not answered, with the status that says why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Guard:
    """The studio's door: an ASGI application around another.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    token : str
        What the requests must carry: once in the URL, ``/?token=...``, which sets a cookie with a value of its own;
        or as ``Authorization: Bearer ...``.
    port : int
        Where the studio listens.
    """

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._session = secrets.token_hex(24)
        self._cookie = f"dovetail-studio-{port}"  # two studios may run
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        if port == 80:
            self._hosts |= {"127.0.0.1", "localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say why not."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = add_headers(list(message.get("headers", [])), scope["path"])
            await send(message)

        headers = Headers(scope=scope)
        try:
            self._check_sender(headers)
            if answer := self._log_in(scope, headers):
                await answer(scope, receive, send_safely)
                return
            self._check_right(headers, scope["method"])
            _check_length(headers)
        except RefusedError as refusal:
            await _explain(refusal, scope["path"])(scope, receive, send_safely)
            return
        await self._app(scope, limited(receive), send_safely)

    def _check_sender(self, headers: Headers) -> None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise RefusedError(
                403,
                f"this studio answers to {' and '.join(sorted(self._hosts))} only; where a port is forwarded, use the "
                "same number on both sides",
            )
        origins = {f"http://{host}" for host in self._hosts}
        if any(origin.lower() not in origins for origin in headers.getlist("origin")):
            raise RefusedError(403, "this studio answers to its own pages only, not to those of other sites")

    def _log_in(self, scope: Scope, headers: Headers) -> Response | None:
        """Return the answer to ``/?token=...``, where that is what was asked for."""
        if scope["path"] != "/" or scope["method"] not in ("GET", "HEAD"):
            return None
        given = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=100).get("token")
        if given is None:
            return None
        if not _same(given[0], self._token):
            raise RefusedError(403, _NO_TOKEN)
        # On to the page without the token, which should not stay in the bar. Where a link of another site has led here,
        # browsers keep strict cookies back after a redirection; then a page of ours takes the step.
        foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        answer = HTMLResponse(_ONWARD) if foreign else RedirectResponse("/", status_code=303)
        answer.set_cookie(self._cookie, self._session, httponly=True, samesite="strict", path="/")
        return answer

    def _check_right(self, headers: Headers, method: str) -> None:
        """Refuse a request without token or cookie, and one that a browser has not sent from our own page."""
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        by_token = scheme.lower() == "bearer" and _same(bearer.strip(), self._token)
        if not by_token:
            cookie = cookie_parser(headers.get("cookie", "")).get(self._cookie, "")
            if not _same(cookie, self._session):
                raise RefusedError(403, _NO_TOKEN)
            # Origins are checked already; where there is none, browsers say in another header whose page it is.
            if "origin" not in headers and headers.get("sec-fetch-site") not in ("same-origin", "none"):
                raise RefusedError(403, _NOT_OURS)
        # Forms of other sites cannot send this type.
        json = headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"
        if method not in _HARMLESS and not json:
            raise RefusedError(415, "send JSON, with 'Content-Type: application/json'")


def _same(given: str, wanted: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _check_length(headers: Headers) -> None:
    """Refuse a body that is too long by its header."""
    length = headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit():
        raise RefusedError(400, "the request's length is not a number")
    if len(length) > 18 or int(length) > MOST_BODY:
        raise RefusedError(413, _TOO_LONG)


def limited(receive: Receive) -> Receive:
    """Return a way to receive a body that ends as soon as it is too long, whatever its header said."""
    received = 0

    async def within_limits() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MOST_BODY:
            raise HTTPException(413, _TOO_LONG)
        return message

    return within_limits


def _explain(refusal: RefusedError, path: str) -> Response:
    """Return a short answer: JSON to a program, a page to a person."""
    if path.startswith("/api/"):
        return JSONResponse({"error": str(refusal)}, status_code=refusal.status)
    reason = str(refusal)
    content = f"{_HEAD}<h1>Not here</h1><p>{reason[0].upper()}{reason[1:]}.</p></html>"
    return HTMLResponse(content, status_code=refusal.status)


def add_headers(headers: list[tuple[bytes, bytes]], path: str) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer with those that keep it safe.

    Only files of the studio itself may be kept by the browser, and it asks each time whether they are still the same.
    """
    wanted = {**_ALWAYS, "cache-control": "no-cache" if path.startswith("/static/") else "no-store"}
    kept = [(name, value) for name, value in headers if name.decode("latin-1").lower() not in wanted]
    return kept + [(name.encode(), value.encode()) for name, value in wanted.items()]
