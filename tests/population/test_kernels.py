"""The Triton kernels compute what torch's operations do; without a GPU they run in Triton's interpreter."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from dovetail.data.split import Split
from dovetail.population import Adam, AdamW, member_keys, optim
from dovetail.population.ops import conv_pool as conv_pooling
from dovetail.population.ops import pooling
from dovetail.population.optim import ElementwiseUpdate, UpdateRule, UpdateTensors, step_sizes
from dovetail.population.random import _draw
from dovetail.sculpting.pruning import repeated_trainer
from dovetail.sculpting.pruning.perceptrons import Perceptrons
from dovetail.sculpting.pruning.repeated_trainer import RepeatedTrainer, TrainingSettings

tl = pytest.importorskip("triton.language")

from dovetail.population.kernels import adam as adam_kernel  # noqa: E402
from dovetail.population.kernels import conv_pool as conv_pool_kernel  # noqa: E402
from dovetail.population.kernels import noise as noise_kernel  # noqa: E402
from dovetail.population.kernels import pool as pool_kernel  # noqa: E402

GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if GPU else "cpu")
NAN = float("nan")


def whole(*shape: int) -> Tensor:
    """Return whole numbers: sums of them are exact in whatever order, and windows hold equal values."""
    return torch.randint(-2, 3, shape, device=DEVICE).float()


@pytest.mark.parametrize("shape", [(5,), (1025,), (3, 4), (), (0,)])
@pytest.mark.parametrize("normal", [False, True])
def test_noise(normal: bool, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    if not GPU:  # the interpreter has no libdevice; of `tl` it changes the functions while a kernel runs
        own = SimpleNamespace(log=lambda x: tl.log(x), cos=lambda x: tl.cos(x))
        monkeypatch.setattr(noise_kernel, "libdevice", own)
    keys = member_keys([0, 1, -5, 2**40]).view(2, 2)
    found = noise_kernel.draw(keys.to(DEVICE).T, 3, normal, shape)
    torch.testing.assert_close(found.cpu(), _draw(keys.T, 3, normal, shape), atol=1e-5 * normal, rtol=0)


def adam_tensors(optimizer: Adam, mask: Tensor, pattern: Tensor, param: Tensor) -> UpdateTensors:
    return UpdateTensors(
        [torch.where(mask, param, 0)],
        [pattern],
        [[torch.zeros_like(param)] for _ in optimizer.state_names],
        torch.zeros(3, dtype=torch.int64, device=DEVICE),
        step_sizes(optimizer, 3),
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning:triton")  # members that have not begun divide by 0
@pytest.mark.parametrize("kind", [Adam, AdamW])
@pytest.mark.parametrize("skipping", [False, True])
def test_adam(skipping: bool, kind: type[Adam]) -> None:
    optimizer = kind(lr=[0.03, 0.03, 0.1], weight_decay=0.1)
    param, mask = torch.randn(3, 1111, dtype=torch.float64, device=DEVICE), torch.rand(3, 1111) > 0.3
    mask = mask.to(DEVICE)
    bits = optim.mask_patterns({"": mask}, {"": param})[""]
    own, plain = (adam_tensors(optimizer, mask, pattern, param) for pattern in (mask, bits))
    rules: list[UpdateRule] = [
        adam_kernel.KernelUpdate(optimizer, own),
        ElementwiseUpdate(optimizer, plain),
    ]
    for _ in range(2):  # the second time after a restart, which must forget all steps
        for step in range(4):
            grad = torch.randn_like(param)
            active = torch.tensor([True, step % 2 == 0, step > 1], device=DEVICE) if skipping else None
            for rule in rules:
                rule.step([grad], active)
        torch.testing.assert_close(own.params, plain.params, atol=1e-12, rtol=0)
        for rule in rules:
            rule.restart()


def test_a_repeated_trainer_that_keeps_its_kernel_trains_as_often_as_it_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = (5, 7, 3)
    matrices = [torch.randn(3, after, before, dtype=torch.float64) for before, after in pairwise(sizes)]
    start = Perceptrons.from_matrices(
        matrices, [torch.randn(3, after, dtype=torch.float64) for after in sizes[1:]]
    )
    start.kept = torch.rand_like(start.values) > 0.3
    split = Split(torch.randn(13, 5).double(), torch.randint(0, 2, (13, 3)).double()).to(
        DEVICE, torch.float64
    )

    def trained() -> Tensor:
        stack = start.repeated(1).to(DEVICE, torch.float64)
        trainer = RepeatedTrainer(
            stack, [4, 9, 4], split, split, TrainingSettings(4, 5, Adam(lr=0.03), noise=0.1)
        )
        ends = []
        for stream in range(3):
            trainer.train(stream)
            ends.append(stack.values.clone())
        return torch.stack(ends)

    monkeypatch.setattr(repeated_trainer, "update_rule", lambda o, t, skipping: ElementwiseUpdate(o, t))
    expected = trained()
    monkeypatch.setattr(
        repeated_trainer, "update_rule", lambda o, t, skipping: adam_kernel.KernelUpdate(o, t)
    )
    monkeypatch.setattr(optim, "_pattern", lambda mask, param: mask)
    torch.testing.assert_close(trained(), expected, atol=1e-9, rtol=0)


@pytest.mark.parametrize("window", [(2, 2), (3, 1), (2, 3)])
def test_pooling(window: tuple[int, int]) -> None:
    x = whole(2, 3, 7, 6)
    x[0, 1, 2:4] = NAN
    values, places = pool_kernel.max_pool(x, window)
    wanted = pooling.max_pool(x.cpu(), window)
    torch.testing.assert_close((values.cpu(), places.cpu()), wanted, atol=0, rtol=0, equal_nan=True)
    change = whole(*values.shape)
    found = pool_kernel.spread(change, places, (7, 6), window)
    assert torch.equal(found.cpu(), pooling.spread(change.cpu(), places.cpu(), (7, 6), window))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("size", "window"), [((3, 3), (2, 2)), ((2, 3), (3, 2))])
def test_a_first_convolution_and_its_pooling(
    size: tuple[int, int], window: tuple[int, int], bias: bool, shared: bool
) -> None:
    members, samples, channels, inputs = 2, 3, 5, 2
    values = inputs * size[0] * size[1] + bias
    x = whole(*([] if shared else [members]), samples, inputs, 9, 8)
    kernels = whole(members, channels, values)
    pooled, places = conv_pool_kernel.conv_pool(x, kernels, size, window)
    wanted = conv_pooling.conv_pool(x.cpu(), kernels.cpu(), size, window)
    torch.testing.assert_close((pooled.cpu(), places.cpu()), wanted, atol=0, rtol=0)
    change = whole(*pooled.shape)
    found = conv_pool_kernel.kernel_gradient(change, places, x, size, window, values)
    expected = conv_pooling.kernel_gradient(change.cpu(), places.cpu(), x.cpu(), size, window, values)
    assert torch.equal(found.cpu(), expected)
