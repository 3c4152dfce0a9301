"""What every answer of the studio tells the browser not to do."""

from __future__ import annotations

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


def add_headers(headers: list[tuple[bytes, bytes]], path: str) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer with those that keep it safe.

    Only files of the studio itself may be kept by the browser, and it asks each time whether they are still the same.
    """
    wanted = {**_ALWAYS, "cache-control": "no-cache" if path.startswith("/static/") else "no-store"}
    kept = [(name, value) for name, value in headers if name.decode("latin-1").lower() not in wanted]
    return kept + [(name.encode(), value.encode()) for name, value in wanted.items()]
