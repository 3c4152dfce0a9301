"""Modules of a network: clusters of units, merged across layers into a `Hierarchy`.

`detect` is the way in: `matrices` reads the edges, `reach` says which units are used and what they reach, `cluster`
groups a layer's units (`distances`, `agglomerate`, `quality`, `separability`, `ties`), `merge` joins clusters of
neighbouring layers.
"""
