"""Recipes of the MaxEnt paper: composable sparse subnetworks."""
