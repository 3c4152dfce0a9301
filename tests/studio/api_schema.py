"""What the studio's routes take, from their schema: tests find new routes and new values by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI

Schema = dict[str, Any]


@dataclass
class Operation:
    """A route: its method and path, and the schemas of its query's and its body's values."""

    method: str
    path: str
    query: dict[str, Schema] = field(default_factory=dict)
    body: dict[str, Schema] = field(default_factory=dict)

    def texts(self) -> Iterator[str]:
        """Return the names of values that may be any text, or lists of such."""
        for name, schema in {**self.query, **self.body}.items():
            if any(option.get("type") == "string" and "enum" not in option for option in _options(schema)):
                yield name

    def filled(self, name: str, text: str, usual: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return a query and a body with a text as one value, and something that is allowed as the others."""
        values = {
            key: _value(schema, text if key == name else usual, must=key == name)
            for key, schema in {**self.query, **self.body}.items()
        }
        given = {key: value for key, value in values.items() if value is not None}
        return (
            {key: value for key, value in given.items() if key in self.query},
            {key: value for key, value in given.items() if key in self.body},
        )


def operations(app: FastAPI) -> list[Operation]:
    """Return all routes of the API."""
    schema = app.openapi()
    found = []
    for path, methods in schema["paths"].items():
        for method, content in methods.items():
            query = {
                value["name"]: {**value["schema"], "required": value["required"]}
                for value in content.get("parameters", [])
                if value["in"] == "query"
            }
            found.append(Operation(method.upper(), path, query, _body(schema, content)))
    return found


def _body(schema: Schema, content: Schema) -> dict[str, Schema]:
    if "requestBody" not in content:
        return {}
    name = content["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    model = schema["components"]["schemas"][name]
    return {
        key: {**value, "required": key in model.get("required", [])}
        for key, value in model["properties"].items()
    }


def _options(schema: Schema) -> list[Schema]:
    """Return what a value may be: itself, its alternatives, the entries of a list."""
    if "anyOf" in schema:
        return [option for one in schema["anyOf"] for option in _options(one)]
    return _options(schema["items"]) if schema.get("type") == "array" else [schema]


def _value(schema: Schema, text: str, *, must: bool) -> Any:
    if not must and not schema.get("required", True):
        return None
    if "anyOf" in schema:
        return _value(schema["anyOf"][0], text, must=must)
    if schema["type"] == "array":
        return [_value(schema["items"], text, must=must)]
    if "enum" in schema:
        return schema["enum"][0]
    return {"string": text, "integer": schema.get("minimum", 0), "number": 1.0, "boolean": False}[
        schema["type"]
    ]
