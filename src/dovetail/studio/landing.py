"""How the browser is told the address: in a file that only this user can read.

Every user of a machine sees the arguments of every process, so an address with a token must not be one of them.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory


class LandingPage:
    """A page in a private temporary folder that leads to an address.

    Parameters
    ----------
    address : str
        Where it leads, token and all.

    Attributes
    ----------
    url : str
        What to open in the browser.
    """

    def __init__(self, address: str) -> None:
        self._folder = TemporaryDirectory(prefix="dovetail-studio-", ignore_cleanup_errors=True)
        path = Path(self._folder.name) / "open.html"
        path.touch(0o600)  # before anything is in it
        path.write_text(
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>Dovetail studio</title>'
            f'<meta http-equiv="refresh" content="0; url={escape(address)}">'
            f'<a href="{escape(address)}">To the studio</a></html>\n',
            "utf-8",
        )
        self.url = path.as_uri()

    def close(self) -> None:
        """Delete the page; done twice it does no harm."""
        self._folder.cleanup()
