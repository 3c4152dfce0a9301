"""Measures of whether a network has the structure of its task: by its modules (`success`), or by its weights (`structure`)."""
