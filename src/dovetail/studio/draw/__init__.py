"""Draw: a pad to draw on, what each specialist and the composite say to it, and the test images they find hardest.

`pad` reads a drawing, `preparations` makes of it what a data set's own images are, `board` asks the networks and sorts
test images, and `answers` is what `routes` sends to the page.
"""
