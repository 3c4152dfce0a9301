"""The search for the sparsest network that does a task: `grid` runs all cells, `search` one phase in lockstep."""
