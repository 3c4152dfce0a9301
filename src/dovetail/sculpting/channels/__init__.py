"""Sculpting of any chain of layers: channels of convolutions are units, and kernels between two channels are edges."""
