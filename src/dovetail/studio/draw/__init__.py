"""Draw: a pad to draw on, what each specialist and the composite say to it, and the test images they find hardest.

`pad` reads a drawing, `preparations` makes of it what a data set's own images are (`as_digits`, `as_mnist`,
`as_fashion`), `asking` asks the networks, `ranking` sorts test images, `pictures` sends images to the page, and
`board` ties them together for `routes`.
"""
