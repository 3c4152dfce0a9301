"""Recipes for what no paper has asked."""
