"""Partitions of a graph into clusters: eigenvectors, k-means, communities, and the n-cut of what they find."""
