"""Safetensors files taken apart, so that every piece can be changed, also into what no writer would write."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from .hostile import texts, written

DTYPES = ["F32", "F64", "F16", "BF16", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64", "BOOL", "C64", "F8_E4M3",
          "F8_E5M2", "F8_E8M0", "F4", "F6_E2M3", "Q8"]  # fmt: skip
_SIZES = {"F32": 4, "I32": 4, "F64": 8, "I64": 8, "U8": 1, "I8": 1, "BOOL": 1}


@dataclass
class TensorFile:
    """The metadata and tensors of a file, each tensor as what the header says and its bytes."""

    metadata: dict[str, str]
    entries: dict[str, dict[str, Any]]
    data: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def taken_apart(cls, content: bytes) -> TensorFile:
        """Return the pieces of a good file."""
        (length,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8 : 8 + length])
        body = content[8 + length :]
        metadata = header.pop("__metadata__", {})
        data = {name: body[slice(*entry.pop("data_offsets"))] for name, entry in header.items()}
        return cls(metadata, header, data)

    def copy(self) -> TensorFile:
        """Return a copy that can be changed."""
        return TensorFile(dict(self.metadata), {n: dict(e) for n, e in self.entries.items()}, dict(self.data))

    def together(self) -> bytes:
        """Return the file's bytes; tensors lie one after the other."""
        header: dict[str, Any] = {"__metadata__": self.metadata}
        end = 0
        for name, entry in self.entries.items():
            start, end = end, end + len(self.data[name])
            header[name] = {**entry, "data_offsets": entry.get("data_offsets", [start, end])}
        text = written(header).encode()
        return struct.pack("<Q", len(text)) + text + b"".join(self.data[name] for name in self.entries)


@st.composite
def with_other_tensors(draw: st.DrawFn, good: TensorFile) -> TensorFile:
    """Return a file with up to three tensors changed."""
    file = good.copy()
    for _ in range(draw(st.integers(1, 3))):
        if not file.entries:
            break
        name = draw(st.sampled_from(sorted(file.entries)))
        _change(draw, file, name)
    return file


def _change(draw: st.DrawFn, file: TensorFile, name: str) -> None:
    entry, content = file.entries[name], file.data[name]
    how = draw(
        st.sampled_from(["values", "values", "type", "shape", "length", "remove", "rename", "add", "offsets"])
    )
    if how == "values":
        kind = "<i4" if entry["dtype"] == "I32" else "<f4"
        file.data[name] = _other_values(draw, content, kind)
    elif how == "type":
        entry["dtype"] = draw(st.sampled_from(DTYPES))
        if draw(st.booleans()):  # also such that the number of bytes is right
            count = len(content) // 4
            file.data[name] = bytes(count * _SIZES.get(entry["dtype"], 4))
    elif how == "shape":
        count = len(content) // 4
        lies = [[], [0], [2**40], [2**32, 2**32], [-1], [1, count], [count, 1], [1] * 100]
        entry["shape"] = draw(st.sampled_from(lies))
    elif how == "length":
        count = draw(st.integers(0, 40))
        entry["shape"], file.data[name] = [count], (content + bytes(160))[: 4 * count]
    elif how == "remove":
        del file.entries[name], file.data[name]
    elif how == "offsets":
        entry["data_offsets"] = draw(
            st.lists(st.sampled_from([0, 1, 4, 2**20, 2**63, -1]), min_size=1, max_size=3)
        )
    else:
        other = draw(
            st.sampled_from(["0/x", "1/dense1.weight", "merged/dense1.bias", "9/9", f"{name}.values"]) | texts
        )
        file.entries[other], file.data[other] = dict(entry), content
        if how == "rename" and other != name:
            del file.entries[name], file.data[name]


def _other_values(draw: st.DrawFn, content: bytes, kind: str) -> bytes:
    """Return the bytes of a tensor with an entry changed, two swapped, or one doubled."""
    letter = "i" if kind == "<i4" else "f"
    numbers = [number for (number,) in struct.iter_unpack(f"<{letter}", content[: len(content) // 4 * 4])]
    if not numbers:
        return content
    place, other = (draw(st.integers(0, len(numbers) - 1)) for _ in range(2))
    how = draw(st.sampled_from(["change", "change", "swap", "double"]))
    if how == "swap":
        numbers[place], numbers[other] = numbers[other], numbers[place]
    elif how == "double":
        numbers[place] = numbers[other]
    elif letter == "i":
        numbers[place] = draw(st.sampled_from([-1, 0, 1, 71, 72, 2**31 - 1, -(2**31)]))
    else:
        numbers[place] = draw(st.sampled_from([0.0, 1e38, -1e38, float("nan"), float("inf"), float("-inf")]))
    return struct.pack(f"<{len(numbers)}{letter}", *numbers)
