"""The draw view's API: what it says to drawings and test images is what the library says."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient

import dovetail as dt
from dovetail.data import Dataset, Split
from dovetail.specialists import open_file
from dovetail.studio.draw.answers import picture_of, range_of
from dovetail.studio.draw.pad import SIDE, Ink, read_ink
from dovetail.studio.draw.preparations import as_digits

from .conftest import ClientOf
from .strokes import drawn, placed


def sent(ink: Ink) -> str:
    """Return a drawing as the page sends it."""
    return base64.b64encode(np.rint(255 * ink).astype(np.uint8).tobytes()).decode()


def digit(number: int) -> str:
    return sent(drawn(placed(number, 35, 20, 42, 70), 9))


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.glob("*.safetensors"))


def asked(client: TestClient, path: str, status: int = 200, **body: object) -> Any:
    answer = client.post(f"/api/draw/{path}", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


def hardest(client: TestClient, **body: object) -> Any:
    """Ask until all images have been looked at, as the page does; an answer comes after some time, ready or not."""
    while (found := asked(client, "hardest", 200, **body))["samples"] < found["total"]:
        pass
    return found


def save_specialists(folder: Path, name: str, shape: tuple[int, ...], seed: int = 0) -> list[str]:
    """Train three specialists for next to no time on random data that goes by a name; return all files there are."""
    random = torch.Generator().manual_seed(0)
    train, val, test = (
        Split(torch.rand(30, *shape, generator=random), torch.arange(30) % 3) for _ in range(3)
    )
    data = Dataset(name, train, val, test, ("a", "b", "c"))
    dt.train_specialists(data, "mlp:12", slots=True, epochs=1, seed=seed, folder=folder, progress=False)
    return names(folder)


@pytest.fixture
def studio(parts_folder: Path, client: ClientOf) -> TestClient:
    return client(parts_folder)


@pytest.mark.parametrize("method", ["sum", "logits"])
def test_a_drawing_gets_the_answers_of_the_library(
    studio: TestClient, parts_folder: Path, method: Any
) -> None:
    files = names(parts_folder)[:4]
    said = asked(studio, "drawing", files=files, method=method, ink=digit(3))
    members = [open_file(parts_folder / file) for file in files]
    x = torch.from_numpy(as_digits(read_ink(digit(3)))).float()[None, None]
    expected = dt.compose(members, method)(x).softmax(1)[0]
    np.testing.assert_allclose(said["composite"]["probabilities"], expected, atol=1e-3)
    for answer, member in zip(said["specialists"], members, strict=True):
        probabilities = member(x).softmax(1)[0]
        np.testing.assert_allclose(answer["probabilities"], probabilities, atol=1e-3)
        assert answer["entropy"] == pytest.approx(-float(probabilities @ probabilities.log()), abs=1e-3)
        assert answer["decided"] == bool(probabilities.max() > 0.5)
    seen = np.frombuffer(base64.b64decode(said["seen"]["pixels"]), np.uint8)
    np.testing.assert_array_equal(seen.reshape(8, 8), np.rint(255 * as_digits(read_ink(digit(3)))))


@pytest.mark.parametrize("method", ["sum", "logits"])
@pytest.mark.parametrize("number", [0, 1, 2, 7])
def test_a_class_is_recognised_until_it_is_dropped(
    studio: TestClient, parts_folder: Path, number: int, method: str
) -> None:
    files = names(parts_folder)
    whole = asked(studio, "drawing", files=files, method=method, ink=digit(number))["composite"]
    assert (whole["winner"], whole["decided"]) == (number, True)
    rest = [file for file in files if f"-{number}-" not in file]
    less = asked(studio, "drawing", files=rest, method=method, ink=digit(number))["composite"]
    assert len(rest) == 9
    assert less["probabilities"][number] < 0.2
    assert not (less["decided"] and less["winner"] == number)


def test_hardest_images_come_in_the_order_of_their_loss(studio: TestClient, parts_folder: Path) -> None:
    files = names(parts_folder)
    test = dt.load("digits").test
    composite = dt.compose([open_file(parts_folder / file) for file in files])
    log_p = composite(test.x).double().log_softmax(1)
    losses = -log_p[range(len(test)), test.y]
    wrong = composite(test.x).argmax(1) != test.y
    found = [hardest(studio, files=files, place=place) for place in range(4)]
    assert [one["image"]["loss"] for one in found] == pytest.approx(
        losses.sort().values.flip(0)[:4].tolist(), abs=1e-3
    )
    assert found[0]["samples"] == found[0]["total"] == found[0]["count"] == len(test)
    assert found[0]["mistakes"] == int(wrong.sum()) > 0
    shown = base64.b64decode(found[0]["image"]["picture"]["pixels"])
    worst = test.x[losses.argmax(), 0]
    np.testing.assert_array_equal(np.frombuffer(shown, np.uint8).reshape(8, 8), (255 * worst).round())


def test_hardest_images_of_a_class_and_mistakes_only(studio: TestClient, parts_folder: Path) -> None:
    files = names(parts_folder)
    test = dt.load("digits").test
    composite = dt.compose([open_file(parts_folder / file) for file in files])
    wrong = composite(test.x).argmax(1) != test.y
    of_class = hardest(studio, files=files, class_id=8)
    assert (of_class["count"], of_class["image"]["truth"]) == (int((test.y == 8).sum()), 8)
    mistakes = hardest(studio, files=files, mistakes=True, place=1000)
    assert mistakes["count"] == int(wrong.sum())
    assert mistakes["place"] == mistakes["count"] - 1
    assert mistakes["image"]["composite"]["winner"] != mistakes["image"]["truth"]
    nothing = hardest(studio, files=files, class_id=77)
    assert (nothing["count"], nothing["image"]) == (0, None)


def test_a_class_that_no_one_knows_should_find_the_composite_undecided(
    studio: TestClient, parts_folder: Path
) -> None:
    files = names(parts_folder)[:2]
    test = dt.load("digits").test
    composite = dt.compose([open_file(parts_folder / file) for file in files])
    divergence = -composite(test.x).double().log_softmax(1).mean(1) - np.log(10)
    found = hardest(studio, files=files, class_id=5)["image"]
    assert not found["known"]
    assert found["loss"] == pytest.approx(float(divergence[test.y == 5].max()), abs=1e-3)


def test_groups_say_what_can_be_drawn(client: ClientOf, parts_folder: Path, tmp_path: Path) -> None:
    for file in parts_folder.glob("*.safetensors"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    save_specialists(tmp_path, "sensors", (6,))
    save_specialists(tmp_path, "photographs", (3, 5, 5))
    answer = client(tmp_path).get("/api/draw/parts").json()
    found = {
        one["group"]["data"]["name"]: (one["pad"], one["images"], len(one["first"]))
        for one in answer["groups"]
    }
    assert found == {
        "digits": (True, True, 10),
        "photographs": (False, True, 3),
        "sensors": (False, False, 3),
    }
    assert list(found) == ["digits", "photographs", "sensors"]
    assert answer["side"] == SIDE


def test_only_one_specialist_of_a_class_is_ticked_at_first(client: ClientOf, tmp_path: Path) -> None:
    for seed in (0, 1):
        save_specialists(tmp_path, "digits", (1, 8, 8), seed)
    (one,) = client(tmp_path).get("/api/draw/parts").json()["groups"]
    assert len(one["group"]["specialists"]) == 6
    assert one["first"] == [f"digits-{number}-seed0.safetensors" for number in range(3)]


def test_drawing_works_without_the_data_and_test_images_say_how_to_get_it(
    client: ClientOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DOVETAIL_DATA", raising=False)
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
    files = save_specialists(tmp_path, "mnist", (1, 28, 28))
    studio = client(tmp_path)
    assert asked(studio, "drawing", files=files, ink=digit(2))["seen"]["width"] == 28
    assert "dovetail data get mnist" in asked(studio, "hardest", 400, files=files)["error"]


@pytest.mark.parametrize(
    ("name", "shape", "says"),
    [
        ("sensors", (6,), "sensors holds no images (its inputs are 6)"),
        ("photographs", (3, 5, 5), "'photographs' cannot be drawn"),
        ("digits", (1, 9, 9), "take inputs of (1, 9, 9)"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    client: ClientOf, tmp_path: Path, name: str, shape: tuple[int, ...], says: str
) -> None:
    files = save_specialists(tmp_path, name, shape)
    assert says in asked(client(tmp_path), "drawing", 400, files=files, ink=digit(2))["error"]


@pytest.mark.parametrize(
    ("path", "status", "body", "says"),
    [
        ("drawing", 422, {"ink": "x" * 200_000}, "ink"),
        ("drawing", 422, {"files": [], "ink": ""}, "files"),
        ("drawing", 422, {"method": "magic", "ink": ""}, "method"),
        ("drawing", 400, {"ink": ""}, "112 × 112"),
        ("drawing", 404, {"files": ["gone.safetensors"], "ink": ""}, "there is no file"),
        ("drawing", 400, {"files": ["../gone.safetensors"], "ink": ""}, "not in the studio's folder"),
        ("hardest", 422, {"place": -1}, "place"),
        ("hardest", 422, {"class_id": 10**30}, "class_id"),
        ("hardest", 404, {"files": ["gone.safetensors"]}, "there is no file"),
    ],
)
def test_bad_questions_are_answered_with_what_is_wrong(
    studio: TestClient, parts_folder: Path, path: str, status: int, body: dict[str, Any], says: str
) -> None:
    assert says in asked(studio, path, status, **{"files": names(parts_folder)[:2], **body})["error"]


def test_weights_without_bounds_are_told_and_not_an_internal_error(client: ClientOf, tmp_path: Path) -> None:
    files = save_specialists(tmp_path, "digits", (1, 8, 8))
    tame = open_file(tmp_path / files[0])
    assert isinstance(tame, dt.Specialist)
    wild = {
        name: replace(packed, values=torch.full_like(packed.values, 3e38))
        for name, packed in tame.weights.items()
    }
    dt.Specialist(tame.blueprint, tame.rewarded, wild, tame.provenance).save(tmp_path / files[0])
    assert "NaN or infinity" in asked(client(tmp_path), "drawing", 400, files=files, ink=digit(2))["error"]


def test_pictures_of_standardised_colours_use_the_whole_range() -> None:
    pixels = torch.randint(0, 256, (50, 3, 4, 4), generator=torch.Generator().manual_seed(0)).float()
    pixels[0, :, 0, 0], pixels[1, :, 0, 0] = 0, 255
    standardised = (pixels - pixels.mean((0, 2, 3), keepdim=True)) / pixels.std((0, 2, 3), keepdim=True)
    picture = picture_of(standardised[7], range_of(standardised))
    shown = np.frombuffer(base64.b64decode(picture.pixels), np.uint8).reshape(4, 4, 3)
    np.testing.assert_array_equal(shown, pixels[7].permute(1, 2, 0).numpy())
