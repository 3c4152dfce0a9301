"""From a graph to clusters: eigenvectors, k-means, communities, and the n-cut of what they find."""
