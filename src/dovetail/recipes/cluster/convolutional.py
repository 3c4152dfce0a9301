"""Convolutional networks: small ones on images and on two images in two channels, and VGG-16."""

from __future__ import annotations

from collections.abc import Sequence

from ..line import FilledTable
from ..recipe import Figures, Scale
from .comparing import TitledLines, comparing, stage_charts, stage_places
from .conditions import REGULARISATION, ROUNDING_NOTE, SMALL_CNN, SMOKE_CNN, VGG, lines

NORMS = ("; kernels by the matrix 1-norm", "; kernels by the sum of their entries")
"""What the measures of convolutional networks differ in."""


def _cnn(scale: Scale) -> TitledLines:
    """Return four conditions for each data set, and at smoke scale two."""
    if scale == "smoke":
        return {
            "Small CNNs, digits": [
                lines("digits", SMOKE_CNN, REGULARISATION[name], {"data": "digits", "condition": name})
                for name in ("none", "l1")
            ]
        }  # fmt: skip
    return {
        f"Table {table}: small CNNs, {data}": [
            lines(
                data, SMALL_CNN, changes, {"data": data, "condition": name},
                {"table": table, "network": "small-cnn", "dataset": data, "regularisation": name},
            )
            for name, changes in REGULARISATION.items()
        ]
        for table, data in (("A.8", "mnist"), ("A.9", "fashion-mnist"))
    }  # fmt: skip


def _cnn_charts(filled: Sequence[FilledTable]) -> Figures:
    """Draw all conditions, and once more those that L1, with copies far below the others, makes hard to see."""
    from .figures import ncut_figure

    yield from stage_charts("cnn", filled, NORMS[0])
    near = {
        table.title.removesuffix(NORMS[0]): stage_places(
            [one for one in table.lines if one[0].labels["condition"] in ("none", "dropout")], "unpruned"
        )
        for table in filled
    }
    yield "cnn-unpruned-detail", ncut_figure(near, "unpruned networks")


CNN = comparing(
    "cnn",
    "Are small convolutional networks more clusterable than chance would have it?",
    "Figures 6, 7 and A.4, Tables A.8 and A.9",
    _cnn,
    measures=NORMS,
    charts=_cnn_charts,
    note="Three convolutions of 64 channels. At the paper's scale: 10 epochs, then 10 with pruning to 90 %; "
    "five networks a condition. The text describes the sum of a kernel's entries; "
    f"the printed numbers come from the matrix 1-norm. {ROUNDING_NOTE}",
)

_VGG_L2 = {"l2": 5e-4}
"""Ten times that of the other networks."""
_VGG_CONDITIONS = {
    **REGULARISATION,
    "l2": _VGG_L2,
    "dropout+l2": {**REGULARISATION["dropout"], **_VGG_L2},
}


def _vgg(scale: Scale) -> TitledLines:
    """Return five conditions, every network a unit of its own; at smoke scale two, of the smaller network."""
    if scale == "smoke":
        return {
            "Small CNNs, digits turned, shifted and mirrored": [
                lines(
                    "digits", {**SMOKE_CNN, "augment": True}, _VGG_CONDITIONS[name],
                    {"data": "digits", "condition": name}, apart=True,
                )
                for name in ("none", "l2")
            ]
        }  # fmt: skip
    return {
        "Table A.10: VGG-16, cifar-10": [
            lines(
                "cifar10", VGG, changes, {"data": "cifar-10", "condition": name},
                {"table": "A.10", "dataset": "cifar-10", "regularisation": name}, apart=True,
                before=REGULARISATION["l2"] if "l2" in changes else None,
            )
            for name, changes in _VGG_CONDITIONS.items()
        ]
    }  # fmt: skip


VGG16 = comparing(
    "vgg",
    "Are VGG-16 networks more clusterable than chance would have it?",
    "Figures 8 and 9, Table A.10",
    _vgg,
    measures=NORMS,
    note="With `--scale paper`: images turned, shifted and mirrored at random; "
    f"{VGG['epochs']} epochs (the paper: 200), then {VGG['pruning_epochs']} with pruning to 90 % (the paper: 50); "
    f"five networks a condition. L1 is {REGULARISATION['l1']['l1']:g}, L2 {_VGG_L2['l2']:g}. {ROUNDING_NOTE}",
)


def _stack(scale: Scale) -> TitledLines:
    """Return both variants for each data set."""
    paper = scale == "paper"
    return {
        "Table A.12: small CNNs, two images in two channels" if paper else "Small CNNs, two digits in two channels": [
            lines(
                f"stack:base={base},variant={variant}", SMALL_CNN if paper else SMOKE_CNN, {},
                {"data": f"{base}-stack-{variant}"},
                {"table": "A.12", "dataset": f"{base}-stack-{variant}"} if paper else None,
            )
            for base in (("mnist", "fashion-mnist") if paper else ("digits",))
            for variant in ("same", "diff")
        ]
    }  # fmt: skip


STACK = comparing(
    "stack",
    "Are small CNNs more clusterable when each of two channels can be looked at on its own?",
    "Figure 12, Table A.12",
    _stack,
    measures=NORMS,
    note="*Same*: both images are of one class. *Diff*: any two; the label is the sum of theirs modulo 10.",
)

RECIPES = (CNN, VGG16, STACK)
