"""Who gets in: the token, our own host, our own origin, JSON, and not too much of it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from fastapi.testclient import TestClient
from httpx import Response
from starlette.exceptions import HTTPException
from starlette.websockets import WebSocketDisconnect

from dovetail.studio import create_app
from dovetail.studio.safety import MOST_BODY, limited

TOKEN = "the-right-token"
HOST = "127.0.0.1:8765"
SESSION = "the-value-of-the-cookie"
NAME = "dovetail-studio-8765"
COOKIE = {"Cookie": f"{NAME}={SESSION}"}
BEARER = {"Authorization": f"Bearer {TOKEN}"}
JSON = {"Content-Type": "application/json"}
SAME = {"Sec-Fetch-Site": "same-origin"}
JOB = "/api/jobs/none"


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setattr(secrets, "token_hex", lambda _: SESSION)
    app = create_app(tmp_path, token=TOKEN, port=8765)
    return TestClient(app, base_url=f"http://{HOST}", follow_redirects=False)


def test_token_in_the_url_becomes_a_strict_cookie(client: TestClient) -> None:
    answer = client.get(f"/?token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith(f"{NAME}=")
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/", headers=SAME).status_code == 200  # the client has kept the cookie
    assert client.get("/api/jobs", headers=SAME).json() == []


def test_cookie_is_not_the_token_and_differs_from_studio_to_studio(tmp_path: Path) -> None:
    """Other servers of this machine see it, so it must not do what the token does."""
    clients = [
        TestClient(create_app(tmp_path, token=TOKEN, port=8765), base_url=f"http://{HOST}") for _ in range(2)
    ]
    for client in clients:
        client.get(f"/?token={TOKEN}", headers=SAME)
    first, second = (client.cookies[NAME] for client in clients)
    assert len({first, second, TOKEN}) == 3
    assert clients[0].get(f"/?token={first}").status_code == 403
    clients[0].cookies.clear()
    for headers in (
        {"Authorization": f"Bearer {first}"},
        {"Cookie": f"{NAME}={second}", **SAME},
        {"Cookie": f"{NAME}={TOKEN}", **SAME},
    ):
        assert clients[0].get("/api/jobs", headers=headers).status_code == 403


@pytest.mark.parametrize("site", [None, "same-site", "cross-site", ""])
@pytest.mark.parametrize("path", ["/", "/api/jobs", "/static/js/main.js"])
def test_cookie_counts_for_our_own_pages_only(client: TestClient, path: str, site: str | None) -> None:
    headers = COOKIE if site is None else {**COOKIE, "Sec-Fetch-Site": site}
    answer = client.get(path, headers=headers)
    assert answer.status_code == 403
    assert "a page of the studio" in answer.text


@pytest.mark.parametrize("token", ["wrong", "", TOKEN[:-1], f"{TOKEN}x", "%00", "é", "%ff"])
def test_wrong_token_is_refused(client: TestClient, token: str) -> None:
    answer = client.get(f"/?token={token}")
    assert answer.status_code == 403
    assert "dovetail studio" in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("path", ["/", "/static/js/main.js", "/static/plotly.js", "/api/jobs", "/nothing"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": "Bearer"},
        {"Cookie": f"dovetail-studio-8766={SESSION}", **SAME},
        {"Cookie": f"{NAME}=wrong", **SAME},
        {"Cookie": '"; broken = [}', **SAME},
    ],
)
def test_nothing_without_the_token(client: TestClient, path: str, headers: dict[str, str]) -> None:
    answer = client.get(path, headers=headers)
    assert answer.status_code == 403
    assert "token" in (answer.json()["error"] if path.startswith("/api") else answer.text)
    assert TOKEN not in answer.text


def test_cookies_of_other_programs_do_not_matter(client: TestClient) -> None:
    others = 'a=[b]; "; c; é=ü; dovetail-studio-1=x; '
    assert (
        client.get("/", headers={**SAME, "Cookie": (others + COOKIE["Cookie"]).encode()}).status_code == 200
    )


def test_token_elsewhere_than_at_the_root_does_nothing(client: TestClient) -> None:
    assert client.get(f"/api/jobs?token={TOKEN}").status_code == 403
    assert client.post(f"/?token={TOKEN}", headers=JSON).status_code == 403


@pytest.mark.parametrize("headers", [BEARER, {**COOKIE, **SAME}, {**COOKIE, "Origin": f"http://{HOST}"}])
def test_token_and_cookie_let_one_read(client: TestClient, headers: dict[str, str]) -> None:
    assert client.get("/", headers=headers).status_code == 200
    assert client.get("/static/js/main.js", headers=headers).status_code == 200
    assert client.get("/api/jobs", headers=headers).json() == []


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:80", "localhost:8766", "127.0.0.1.evil.example:8765",
     "[::1]:8765", "0.0.0.0:8765", "", "127.0.0.1:8765@evil.example"],
)  # fmt: skip
def test_foreign_host_is_refused_even_with_the_token(client: TestClient, host: str) -> None:
    for path in ("/", f"/?token={TOKEN}", "/api/jobs"):
        assert client.get(path, headers={**BEARER, "Host": host}).status_code == 403


def test_two_hosts_are_refused(client: TestClient) -> None:
    headers = [("Host", HOST), ("Host", "evil.example"), *BEARER.items()]
    assert client.get("/api/jobs", headers=headers).status_code == 403


@pytest.mark.parametrize("host", [HOST, "localhost:8765", "LOCALHOST:8765"])
def test_own_hosts(client: TestClient, host: str) -> None:
    assert client.get("/api/jobs", headers={**BEARER, "Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "https://127.0.0.1:8765", "http://127.0.0.1:8766", "null", "http://127.0.0.1",
     "http://127.0.0.1:8765.evil.example", ""],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_foreign_origin_is_refused(client: TestClient, origin: str, method: str) -> None:
    answer = client.request(method, JOB, headers={**COOKIE, **JSON, "Origin": origin})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({**COOKIE, **JSON}, 403),  # from where?
        ({**COOKIE, **JSON, "Sec-Fetch-Site": "cross-site"}, 403),
        ({**COOKIE, **JSON, "Sec-Fetch-Site": "same-site"}, 403),  # another port of this machine
        ({**COOKIE, **SAME}, 415),
        ({**COOKIE, **SAME, "Content-Type": "text/plain"}, 415),
        ({**COOKIE, **SAME, "Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({**BEARER}, 415),
        ({**COOKIE, **JSON, **SAME}, 404),  # let through: there is no such job
        ({**COOKIE, **JSON, "Sec-Fetch-Site": "none"}, 404),
        ({**COOKIE, **JSON, "Origin": f"http://{HOST}"}, 404),
        ({**COOKIE, **SAME, "Content-Type": "Application/JSON; charset=utf-8"}, 404),
        ({**BEARER, **JSON}, 404),
    ],
)
def test_changes_come_from_our_own_page(client: TestClient, headers: dict[str, str], status: int) -> None:
    assert client.delete(JOB, headers=headers).status_code == status


def test_long_bodies_are_refused(client: TestClient) -> None:
    headers = {**BEARER, **JSON}
    too_long = " " * (MOST_BODY + 1)
    assert client.request("DELETE", JOB, headers=headers, content=too_long).status_code == 413
    assert client.request("DELETE", JOB, headers=headers, content=too_long[1:]).status_code == 404
    assert client.request("GET", "/api/jobs", headers=BEARER, content=too_long).status_code == 413
    for length in ("99999999999999999999999", "-1", "x", "²"):
        answer = client.request(
            "DELETE", JOB, headers=[*headers.items(), ("Content-Length", length.encode())]
        )
        assert answer.status_code in (400, 413)


def test_long_bodies_without_a_length_are_refused_as_soon_as_they_are_too_long(client: TestClient) -> None:
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        while sent < 2 * MOST_BODY:
            sent += 2**16
            yield b" " * 2**16

    answer = client.post("/api/bench/look", headers={**BEARER, **JSON}, content=pieces())
    assert answer.status_code == 413
    assert "send less" in answer.json()["error"]

    async def receive() -> dict[str, object]:
        nonlocal sent
        sent += 1
        return {"type": "http.request", "body": b" " * 2**16, "more_body": True}

    async def read_all() -> None:
        receive_some = limited(receive)
        while True:
            await receive_some()

    sent = 0
    # In a thread of its own: that of the tests may have a browser's loop.
    with start_blocking_portal() as portal, pytest.raises(HTTPException):
        portal.call(read_all)
    assert sent == MOST_BODY // 2**16 + 1


def _check_headers(answer: Response) -> None:
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert "eval" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path", ["/", "/static/studio.css", "/static/plotly.js", "/api/jobs", "/nothing", JOB, f"/?token={TOKEN}"]
)
@pytest.mark.parametrize("headers", [BEARER, {}])
def test_every_answer_is_wrapped(client: TestClient, path: str, headers: dict[str, str]) -> None:
    answer = client.get(path, headers=headers)
    _check_headers(answer)
    kept = path.startswith("/static/")
    assert answer.headers["cache-control"] == ("no-cache" if kept else "no-store")
    assert "server" not in answer.headers


def test_scripts_are_not_sent_twice(client: TestClient) -> None:
    for path in ("/static/plotly.js", "/static/js/main.js"):
        tag = client.get(path, headers=BEARER).headers["etag"]
        assert client.get(path, headers={**BEARER, "If-None-Match": tag}).status_code == 304


@pytest.mark.parametrize(
    "path",
    ["/openapi.json", "/docs", "/redoc", "/static/", "/static/js", "/static/../app.py", "/static/%2e%2e/app.py",
     "/static/..%2fapp.py", "/static/%2fetc/passwd", "/static//etc/passwd", "/static/js/%00",
     "/static/" + "x" * 5000],
)  # fmt: skip
def test_nothing_else_is_served(client: TestClient, path: str) -> None:
    answer = client.get(path, headers=BEARER)
    assert answer.status_code == 404
    assert set(answer.json()) == {"error"}


def test_internal_errors_are_one_line_and_wrapped(tmp_path: Path) -> None:
    app = create_app(tmp_path, token=TOKEN, port=8765)

    @app.get("/api/broken")
    def broken() -> None:
        raise ZeroDivisionError("by \ud800")

    answer = TestClient(app, base_url=f"http://{HOST}", raise_server_exceptions=False).get(
        "/api/broken", headers=BEARER
    )
    assert (answer.status_code, answer.json()) == (500, {"error": "internal error: ZeroDivisionError: by ?"})
    _check_headers(answer)


def test_websockets_are_closed(client: TestClient) -> None:
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/", headers=BEARER):
        pass
