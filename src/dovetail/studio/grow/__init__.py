"""Grow: a class that a composite has never heard of, taught from a few drawings or from data that lies in the folder.

`examples` makes data of drawings, `teaching` trains a specialist beside the composite and measures what that did to the
others, `job` does it beside the server, and `grown` opens what came of it for `routes`.
"""
