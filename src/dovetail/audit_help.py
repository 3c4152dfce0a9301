"""What the settings of an audit mean, in one line each: the same wherever people set them."""

from __future__ import annotations

K = "Number of clusters."
SHUFFLES = "Shuffled copies to compare with."
SHUFFLE = "Shuffle all weights of each layer, or only those that are not 0."
SEED = "Decides shuffles, clusters and random sets."
OUTPUT = "Folder for pictures and audit.json."
