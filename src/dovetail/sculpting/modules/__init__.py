"""Modules of a network: clusters of units, merged across layers into a `Hierarchy`.

`detect` is the way in: `matrices` reads the edges, `reach` says which units are used and what they reach, `agglomerate`
puts a layer's units into clusters (`quality` measures how near they are and how good the clusters), `ties` says whether
equal distances decided.
"""
