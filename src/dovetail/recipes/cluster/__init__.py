"""Recipes of Clusterability in Neural Networks."""
