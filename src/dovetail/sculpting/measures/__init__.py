"""Measures of the structure that a network has of its task: by modules (`success`), or by weights (`structure`)."""
