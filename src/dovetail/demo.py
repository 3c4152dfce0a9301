"""The demonstration: ten networks trained as one population on data that needs no download."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def generalists(members: int = 10, *, epochs: int = 100, progress: bool = True) -> tuple[pd.DataFrame, float]:
    """Train generalists on `digits` together.

    Parameters
    ----------
    members : int
        How many; member ``i`` has seed ``i``.
    epochs : int
        At most so many passes over the data; a member stops after five without a lower validation loss.
    progress : bool
        Show a progress bar.

    Returns
    -------
    table : DataFrame
        Per member: seed, epochs trained, and loss and accuracy on the test split.
    seconds : float
        How long training took.

    Examples
    --------
    >>> table, seconds = generalists(2, epochs=3, progress=False)
    >>> list(table.columns)
    ['seed', 'epochs', 'loss', 'accuracy']
    """
    from .data import load
    from .nets import net_builder
    from .population import Population

    data = load("digits")
    population = Population(net_builder("mlp:128", data.input_shape, data.outputs), seeds=range(members))
    history = population.fit(data, epochs=epochs, patience=5, progress=progress)
    table = population.evaluate(data.test).to_frame()
    table.insert(1, "epochs", history.epochs.tolist())
    return table, history.seconds
