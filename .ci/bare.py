"""The wheel in dist/ as someone gets it who has nothing but Python: installed with an extra, and used.

Nothing of the working tree is on the way: the environment is new, and so is the folder that commands run in.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import tempfile
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Make the environment, and end with an error where something is not as it should be."""
    (wheel,) = (ROOT / "dist").glob("*.whl")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        subprocess.run([sys.executable, "-m", "venv", place / "bare"], check=True)
        programs, work = place / "bare/bin", place / "work"
        work.mkdir()

        pip = [programs / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        # --no-compile: most of it is never imported here.
        subprocess.run([*pip, "--no-compile", "-c", ROOT / "constraints.txt", f"{wheel}[studio]"], check=True)

        def dovetail(*words: str) -> str:
            return subprocess.run(
                [programs / "dovetail", *words], cwd=work, stdout=subprocess.PIPE, text=True, check=True
            ).stdout

        assert dovetail("--version") == f"dovetail {wheel.name.split('-')[1]}\n"
        dovetail(
            *[
                "train",
                "digits",
                "--net",
                "mlp:200",
                "-r",
                "3",
                "-r",
                "8",
                "--slots",
                "--epochs",
                "5",
                "-o",
                "parts",
            ]
        )
        assert len([*(work / "parts").glob("*.safetensors")]) == 2
        look_into_the_studio(programs / "dovetail", work)
    print("a new environment with nothing but the wheel: as it should be")


def look_into_the_studio(program: Path, folder: Path) -> None:
    """Start the studio, look at its page as a browser does, and stop it."""
    command = [program, "studio", folder, "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as studio:
        assert studio.stdout is not None
        address = re.search(r"http://\S+", studio.stdout.readline())
        assert address, "the studio did not start"
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        opener.addheaders = [("Sec-Fetch-Site", "none")]
        with opener.open(address[0], timeout=60) as page:
            assert b"Dovetail studio" in page.read()
        studio.send_signal(signal.SIGTERM)
        assert studio.wait(60) == 0


if __name__ == "__main__":
    main()
