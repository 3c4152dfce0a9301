"""Parts in closed form: sums over the samples of a class, exact to the bit, from which ridge regression follows.

From the bottom up: `basis` (features in whole numbers), `exact` (their moments), `content` (what is held of a class),
`held` (all classes of a part), `ridge` (the solution, and leave one out), `tuning`, `blueprint`, `manifest` and `sums`
(the part), then what is made of them: `making`, `files`, `certificate` (that leaving out was training without) and
`combined` (beside specialists).
"""
