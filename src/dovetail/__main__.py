"""``python -m dovetail`` is the ``dovetail`` command."""

from .cli import main

main()
