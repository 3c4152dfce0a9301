"""A local web app: see the parts, put them together, watch what happens.

Everything here answers to this machine only, and opens only files under one folder. `app` puts the views' routes
together, `safety` decides who may ask, `folder` which files may be named, and `jobs` runs long work beside the server.
Each view has a folder here with its routes, and a file in ``static/views``.
"""

from __future__ import annotations

from ..errors import DovetailError

try:
    from .app import create_app
    from .serve import serve
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("fastapi", "starlette", "uvicorn"):
        raise
    raise DovetailError(
        f"the studio needs the package {error.name}: pip install 'dovetail-nn[studio]'"
    ) from error

__all__ = ["create_app", "serve"]
