"""A local web app: see the parts, put them together, watch what happens.

Everything here answers to this machine only, and opens only files under one folder. `app` puts the views' routes
together, `safety` decides who may ask, `folder` which files may be named, and `jobs` runs long work beside the server.
Each view has a folder here with its routes, and a file in ``static/views``.
"""

from __future__ import annotations

from .app import create_app
from .serve import serve

__all__ = ["create_app", "serve"]
