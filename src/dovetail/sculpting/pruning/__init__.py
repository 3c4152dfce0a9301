"""The search for the sparsest network that does a task: `grid` runs all searches, `search` one phase of them."""
