"""Folders of pictures, and pictures of all kinds brought to one size."""

from __future__ import annotations

import builtins
import io
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail as dt
from dovetail.data.own.picture_folder import list_pictures
from dovetail.data.preparation import Pictures
from dovetail.errors import DataError, SpecError

Image = pytest.importorskip("PIL.Image")

RANDOM = np.random.default_rng(0)


def picture(height: int = 10, width: int = 12, channels: int = 3) -> Any:
    shape = (height, width, channels) if channels > 1 else (height, width)
    return Image.fromarray(RANDOM.integers(0, 256, shape, dtype=np.uint8))


def save(path: Path, image: Any = None, **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    (picture() if image is None else image).save(path, **options)
    return path


def folder_of(root: Path, counts: dict[str, int], ending: str = "png") -> Path:
    for name, count in counts.items():
        for number in range(count):
            save(root / name / f"{number:03}.{ending}")
    return root


def header_of(width: int, height: int) -> bytes:
    """Return a PNG that says it is as large, and has hardly any content."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", size)
        + chunk(b"IDAT", zlib.compress(bytes(99)))
        + chunk(b"IEND", b"")
    )


# Folders


def test_a_folder_is_a_class_and_every_picture_keeps_it(tmp_path: Path) -> None:
    for number in range(30):
        value = 8 * number
        save(tmp_path / "abc"[number % 3] / f"{number}.png", Image.new("L", (7, 5), value))
    data = dt.read(tmp_path)
    assert data.input_shape == (1, 5, 7)
    assert data.classes == ("a", "b", "c")
    assert [len(split) for split in data.splits.values()] == [19, 5, 6]
    found = {}
    for split in data.splits.values():
        for sample, number in zip(split.x, split.y.tolist(), strict=True):
            assert sample.min() == sample.max()
            found[round(float(sample.max()) * 255 / 8)] = number
    assert found == {number: number % 3 for number in range(30)}
    assert data.notes == ()


def test_official_splits_are_kept(tmp_path: Path) -> None:
    folder_of(tmp_path / "train", {"cat": 10, "dog": 10})
    folder_of(tmp_path / "Validation", {"cat": 3, "dog": 2})
    folder_of(tmp_path / "test", {"cat": 4, "emu": 1})
    folder_of(tmp_path, {"more": 2})
    data = dt.read(tmp_path)
    assert [len(split) for split in data.splits.values()] == [20, 5, 5]
    assert data.classes == ("cat", "dog", "emu")
    assert "classes without pictures to train on: 'emu'" in data.notes
    assert "folders beside those of the splits are left out: 'more'" in data.notes


def test_a_split_that_is_missing_is_taken_out_of_train(tmp_path: Path) -> None:
    folder_of(tmp_path / "train", {"cat": 10, "dog": 10})
    folder_of(tmp_path / "test", {"cat": 3, "dog": 3})
    assert [len(split) for split in dt.read(tmp_path).splits.values()] == [16, 4, 6]


def test_classes_may_be_called_as_splits_are(tmp_path: Path) -> None:
    folder_of(tmp_path, {"train": 10, "test": 10, "bus": 10})
    assert dt.read(tmp_path).classes == ("bus", "test", "train")


def test_a_folder_around_all_others_and_folders_in_classes_are_no_classes(tmp_path: Path) -> None:
    folder_of(tmp_path / "download" / "photos", {"cat/2020": 5, "cat/2021": 5, "dog": 5, ".trash": 5})
    assert dt.read(tmp_path).classes == ("cat", "dog")


def test_what_is_left_out_is_noted(tmp_path: Path) -> None:
    folder_of(tmp_path, {"cat": 8, "dog": 8})
    save(tmp_path / "beside.png")
    (tmp_path / "empty").mkdir()
    (tmp_path / "cat" / "notes.txt").write_text("hello")
    (tmp_path / "cat" / ".hidden.png").write_text("no picture")
    (tmp_path / "cat" / "damaged.png").write_text("no picture")
    assert dt.read(tmp_path).notes == (
        "folders without pictures are no classes: 'empty'",
        "pictures beside the folders of classes are left out (1)",
        "files that are no pictures are left out: 1 ('.txt')",
        f"1 of 17 pictures cannot be read and are left out: {tmp_path}/cat/damaged.png cannot be read as a picture "
        "(cannot identify image file); replace it or take it out",
    )


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    outside = folder_of(tmp_path / "outside", {"secret": 3})
    root = folder_of(tmp_path / "photos", {"cat": 8, "dog": 8})
    (root / "secret").symlink_to(outside / "secret")
    (root / "cat" / "link.png").symlink_to(outside / "secret" / "000.png")
    (root / "round").symlink_to(root)
    (root / "cat" / "again").symlink_to(root / "cat")
    (root / "cat" / "same.png").symlink_to(root / "cat" / "000.png")
    found = list_pictures(root)
    assert len(found.paths) == 17
    assert set(found.labels or ()) == {"cat", "dog"}
    assert found.notes == ("links that lead out of the folder are not followed (3)",)
    # The folder itself may be one.
    (tmp_path / "photo-link").symlink_to(root)
    assert len(list_pictures(tmp_path / "photo-link").paths) == 17


def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    folder_of(tmp_path / "photos", {"cat": 8})
    name = os.fsencode(tmp_path / "photos") + b"/caf\xe9"
    try:
        os.mkdir(name)  # noqa: PTH102 (a Path has no bytes)
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    for number in range(8):
        save(Path(os.fsdecode(name)) / f"{number}.png")
    (Path(os.fsdecode(name)) / "damaged.png").touch()
    data = dt.read(tmp_path / "photos")
    assert data.classes == ("caf�", "cat")
    "\n".join([*data.classes, *data.notes, data.fingerprint]).encode()  # fits in any file


def test_a_pipe_in_a_folder_is_no_picture(tmp_path: Path) -> None:
    folder_of(tmp_path, {"cat": 5, "dog": 5})
    os.mkfifo(tmp_path / "cat" / "pipe.png")
    assert len(list_pictures(tmp_path).paths) == 10


@pytest.mark.parametrize(
    ("counts", "files", "message"),
    [
        ({}, {}, "a folder, but not one of pictures: it holds nothing"),
        ({}, {"a.csv": b"", "b/c.txt": b""}, r"it holds 'a\.csv', 'b'\. Pictures \(\.bmp, .*\) are expected"),
        ({".": 3}, {}, "holds pictures, but no folders of classes"),
        ({"cat": 1, "dog": 1}, {"cat/a.png": b"", "dog/b.png": b""}, "too many of 4 pictures cannot be read"),
        (
            {},
            {"cat/a.png": b"", "dog/b.png": b"x"},
            "none of 2 pictures to train on can be read; the last one: .*b.png",
        ),
        (
            {"train/cat": 3, "train/dog": 3},
            {"test/a.png": b""},
            r"test holds no folders of classes with pictures",
        ),
        ({"train/cat": 3, "training/cat": 3, "test/cat": 3}, {}, "second folder for its split"),
    ],
)
def test_folders_of_other_things_are_refused(
    tmp_path: Path, counts: dict[str, int], files: dict[str, bytes], message: str
) -> None:
    folder_of(tmp_path / "x.csv", counts)
    (tmp_path / "x.csv").mkdir(exist_ok=True)
    for name, content in files.items():
        (tmp_path / "x.csv" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "x.csv" / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        dt.read(tmp_path / "x.csv")


# Sizes and colours


def test_the_size_is_that_of_most_pictures_up_to_64(tmp_path: Path) -> None:
    for number in range(8):
        save(
            tmp_path / "ab"[number % 2] / f"{number}.png", picture(40, 30) if number < 7 else picture(20, 90)
        )
    data = dt.read(tmp_path, split=(1, 0, 0))
    assert data.input_shape == (3, 40, 30)
    assert (
        "1 of 8 pictures are of other sizes than 40 × 30: they are scaled to cover it, and their middle is cut out"
        in data.notes
    )
    assert dt.read(tmp_path, size=(6, 9)).input_shape == (3, 6, 9)
    for number in range(8):
        save(tmp_path / "ab"[number % 2] / f"{number}.png", picture(40 + 10 * number, 200))
    assert dt.read(tmp_path).input_shape == (3, 64, 64)


def test_grey_ones_among_colours_are_taken_as_colour(tmp_path: Path) -> None:
    for number in range(10):
        save(tmp_path / "ab"[number % 2] / f"{number}.png", picture(channels=1 if number < 3 else 3))
    data = dt.read(tmp_path, split=(1, 0, 0))
    assert data.input_shape[0] == 3
    assert "3 of 10 pictures are grey, the others in colour: all are taken as colour" in data.notes


@pytest.mark.parametrize("size", [0, 2000, "32", (3,), (3, 4, 5), True, 2.5])
def test_sizes_that_are_none_are_refused(tmp_path: Path, size: Any) -> None:
    folder_of(tmp_path, {"cat": 3, "dog": 3})
    with pytest.raises(SpecError, match="size is a whole number of pixels from 1 to 1,024"):
        dt.read(tmp_path, size=size)


GREY = np.linspace(0, 255, 64, dtype=np.uint8).reshape(8, 8)


@pytest.mark.parametrize(
    ("image", "ending"),
    [
        (Image.fromarray(GREY), "png"),
        (Image.fromarray(GREY), "bmp"),
        (Image.fromarray(GREY), "pgm"),
        (Image.fromarray(GREY), "TIFF"),
        (Image.fromarray(GREY.astype(np.uint16) * 257), "png"),
        (Image.fromarray(GREY.astype(np.uint16) * 257), "tif"),
        (Image.fromarray(GREY.astype(np.int32) * 257), "tif"),
        (Image.fromarray(GREY).convert("P"), "png"),
        (Image.fromarray(GREY).convert("P"), "gif"),
        (Image.fromarray(GREY).convert("LA"), "png"),
        (Image.fromarray(GREY).convert("RGB"), "ppm"),
        (Image.fromarray(GREY).convert("RGBA"), "png"),
    ],
)
def test_all_kinds_of_files_give_the_same_pixels(tmp_path: Path, image: Any, ending: str) -> None:
    path = save(tmp_path / f"a.{ending}", image)
    for channels in (1, 3):
        found = Pictures(size=(8, 8), channels=channels)([path])
        np.testing.assert_allclose(found[0].numpy(), np.stack([GREY / 255] * channels), atol=1.5 / 255)


def test_lossy_files_give_nearly_the_same_pixels(tmp_path: Path) -> None:
    smooth = np.linspace(0, 255, 32 * 32, dtype=np.uint8).reshape(32, 32)
    for image, ending in (
        (Image.fromarray(smooth), "jpg"),
        (Image.fromarray(smooth).convert("CMYK"), "jpeg"),
        (Image.fromarray(smooth), "webp"),
    ):
        found = Pictures(size=(32, 32), channels=1)([save(tmp_path / f"a.{ending}", image)])
        np.testing.assert_allclose(found[0, 0].numpy(), smooth / 255, atol=0.05)


@pytest.mark.parametrize("turn", range(1, 9))
def test_pictures_stand_as_the_camera_says(tmp_path: Path, turn: int) -> None:
    upright = np.zeros((16, 24), np.uint8)
    upright[:8, :12] = 255
    as_stored = {
        1: upright, 2: upright[:, ::-1], 3: upright[::-1, ::-1], 4: upright[::-1],
        5: upright.T, 6: upright.T[::-1], 7: upright.T[::-1, ::-1], 8: upright.T[:, ::-1],
    }[turn]  # fmt: skip
    exif = Image.Exif()
    exif[0x0112] = turn
    for number in range(6):
        save(
            tmp_path / "ab"[number % 2] / f"{number}.png",
            Image.fromarray(np.ascontiguousarray(as_stored)),
            exif=exif,
        )
    data = dt.read(tmp_path)
    assert data.input_shape == (1, 16, 24)
    np.testing.assert_allclose(data.train.x[0, 0].numpy(), upright / 255)


def test_large_pictures_are_refused_by_their_header(tmp_path: Path) -> None:
    pictures = Pictures(size=(8, 8), channels=3)
    for width, height in ((100_000, 100_000), (8_000, 8_000)):
        (tmp_path / "bomb.png").write_bytes(header_of(width, height))
        with pytest.raises(DataError, match=r"bomb\.png has .* pixels, and 50,000,000 are the most"):
            pictures([tmp_path / "bomb.png"])
    folder_of(tmp_path / "photos", {"cat": 10, "dog": 10})
    (tmp_path / "photos" / "cat" / "bomb.png").write_bytes(header_of(100_000, 100_000))
    assert any("bomb.png has far more pixels" in note for note in dt.read(tmp_path / "photos").notes)


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"\x89PNG\r\n\x1a\n", header_of(8, 8), b"GIF89a", b"%!PS-Adobe-3.0"]
)
def test_damaged_pictures_are_refused_by_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.png cannot be read as a picture"):
        Pictures(size=(8, 8), channels=1)([tmp_path / "a.png"])
    whole = io.BytesIO()
    picture(100, 100).save(whole, "jpeg")
    with pytest.raises(DataError, match=r"a picture cannot be read as a picture \(image file is truncated"):
        Pictures(size=(8, 8), channels=1)([io.BytesIO(whole.getvalue()[:2000])])


def test_floats_of_measurements_are_no_picture(tmp_path: Path) -> None:
    path = save(tmp_path / "a.tif", Image.fromarray(GREY.astype(np.float32)))
    with pytest.raises(DataError, match="measured values, not colours"):
        Pictures(size=(8, 8), channels=1)([path])


def test_paths_images_arrays_and_files_give_the_same(tmp_path: Path) -> None:
    image = picture(20, 30)
    array = np.asarray(image)
    path = save(tmp_path / "a.png", image)
    prepare = Pictures(size=(8, 8), channels=3)
    wanted = prepare([path])
    for one in (str(path), image, array, array.astype(np.int64), array.transpose(2, 0, 1), array / 255):
        np.testing.assert_allclose(prepare([one]), wanted, atol=1 / 255)
    np.testing.assert_allclose(prepare(array[None]), wanted)
    np.testing.assert_allclose(prepare(io.BytesIO(path.read_bytes())), wanted)
    assert np.asarray(image).tolist() == array.tolist()  # what a user holds stays as it is
    with pytest.raises(DataError, match="A single picture is"):
        prepare(array)
    with pytest.raises(DataError, match=r"there is no picture .*nope"):
        prepare([tmp_path / "nope.png"])
    with pytest.raises(DataError, match="pixels go from -1"):
        prepare([array.astype(float) - 1])


def test_without_pillow_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder_of(tmp_path, {"cat": 3, "dog": 3})
    usual = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "PIL":
            raise ImportError("no such package")
        return usual(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DataError, match=r"needs the package pillow, .*install it, or dovetail-nn\[vision\]"):
        dt.read(tmp_path)


def test_what_was_trained_on_prepares_others(tmp_path: Path) -> None:
    first = dt.read(folder_of(tmp_path / "first", {"cat": 6, "dog": 6, "emu": 6}), size=16)
    for number in range(6):
        save(
            tmp_path / "second" / ("dog" if number % 2 else "emu") / f"{number}.png",
            picture(30, 20, channels=1),
        )
    second = dt.read(tmp_path / "second", like=first)
    assert (second.classes, second.preparation) == (first.classes, first.preparation)
    assert set(second.train.y.tolist()) == {1, 2}
    with pytest.raises(SpecError, match="leave size out"):
        dt.read(tmp_path / "second", like=first, size=8)
    save(tmp_path / "second" / "gnu" / "0.png")
    with pytest.raises(DataError, match="labels 'gnu' are not in the class list"):
        dt.read(tmp_path / "second", like=first)
    arrays = dt.Dataset.from_arrays(np.zeros((6, 2)), [0, 1] * 3)
    with pytest.raises(DataError, match="these are pictures, and it takes something else"):
        dt.read(tmp_path / "first", like=arrays)


def test_an_unreadable_folder_is_named(tmp_path: Path) -> None:
    folder_of(tmp_path, {"cat": 3, "dog": 3})
    (tmp_path / "dog").chmod(0)
    try:
        if os.access(tmp_path / "dog", os.R_OK):
            pytest.skip("root may read everything")
        with pytest.raises(DataError, match=r"cannot look into .*dog \(Permission denied\)"):
            dt.read(tmp_path)
    finally:
        (tmp_path / "dog").chmod(0o700)
