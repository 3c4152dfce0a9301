"""Operations worded anew: mapped over members they become fast stacked ones, with the same result.

`torch.func.vmap` already runs any module for a whole stack, but the wording of an operation decides what its stacked
version costs. `rules` says which functional calls are worded anew, the other files hold one operation each:

- `linear`: a backward pass in which both gradients come out in the memory layout of what they belong to; transposed
  ones, which `vmap` would give, make all that follows several times slower;
- `convolution`: over few input values per output (a first layer) as a product of patches: as a grouped convolution,
  which is what `vmap` would make of it, each group is too thin for the hardware;
- `one_by_one`: other convolutions and batch norm, on the CPU, for one member after another;
- `pooling`, `conv_pool`: on CUDA, max-pooling without overlap in one pass, and together with the first convolution;
- `dropout`, `rand_like` and `randn_like`: with noise that belongs to the member (`population.random`).
"""
