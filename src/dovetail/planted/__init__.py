"""Networks whose modules are known, because they were put there: what finders of modules are held against.

`block_network` draws weights in blocks, with noise between them; `task_networks` trains for Boolean tasks that have
nothing, or one part, in common; `compile_programs` makes a transformer of sequence programs (`series` is the language,
`named_programs` and `draw_program` have programs). Each gives a `KnownNetwork`, and `agreement_with` says how well
clusters agree with its modules.
"""

from .blocks import block_network
from .compiling import CompiledNetwork, compile_programs
from .drawn import draw_program
from .known import Agreement, KnownNetwork, agreement_with
from .named import named_programs
from .plan import Part
from .series import Program, Selector, Series, Tokens, combine, select, tokens
from .tasks import task_networks
from .transformer import Transformer

__all__ = [
    "Agreement",
    "CompiledNetwork",
    "KnownNetwork",
    "Part",
    "Program",
    "Selector",
    "Series",
    "Tokens",
    "Transformer",
    "agreement_with",
    "block_network",
    "combine",
    "compile_programs",
    "draw_program",
    "named_programs",
    "select",
    "task_networks",
    "tokens",
]
