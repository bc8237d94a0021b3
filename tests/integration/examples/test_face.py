# SPDX-License-Identifier: Apache-2.0
"""examples/face and examples/python/face.py on the portrait of an astronaut (NASA, public domain)."""
import math
import pathlib
import shutil

import pytest
from conftest import (NETWORKS, needs_package, only_unsanitized, refuses, run, run_page, run_python)
from PIL import Image, ImageDraw, ImageOps

PORTRAIT = pathlib.Path(NETWORKS) / "astronaut.png"
SHORT = f"{NETWORKS}/face_detection_short_range.tflite"
FULL = f"{NETWORKS}/face_detection_full_range.tflite"
# Where eyes, tip of the nose and middle of the mouth are, by eye; and the box from ear to ear, from
# the brows to the chin.
PARTS = [(204, 101), (248, 105), (223, 125), (222, 146)]
BOX = (177, 75, 273, 175)


def parse(output):
    """The box, the probability and the key points of each face."""
    faces = []
    for line in output.splitlines():
        words = line.split(" ")
        points = [tuple(map(int, word.split(","))) for word in words[:2] + words[3:]]
        faces.append((points[0] + points[1], float(words[2]), points[2:]))
    return faces


def overlap(a, b):
    """The area of the intersection of boxes as a share of the area of their union."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    shared = max(0, width) * max(0, height)
    return shared / (sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in (a, b)) - shared)


def is_right(face, factor=1, left=0, top=0, most=6):
    """Whether a face is the portrait's, resized and moved. Key points differ by `most` pixels of the
    portrait, where the eyes are 44 apart and a pixel of the input is 2.7 or 4."""
    box, probability, key_points = face
    expected = [(x * factor + left, y * factor + top) for x, y in PARTS]
    placed = [BOX[0] * factor + left, BOX[1] * factor + top, BOX[2] * factor + left,
              BOX[3] * factor + top]
    assert probability >= 0.5
    assert overlap(box, placed) > 0.7, (box, placed)
    assert len(key_points) == 6
    distances = [math.dist(a, b) / factor for a, b in zip(expected, key_points)]
    assert max(distances) < most, distances


@pytest.mark.parametrize("network", [SHORT, FULL])
def test_portrait(network):
    """The portrait has one face, in its place."""
    face, = parse(run("face", network, PORTRAIT))
    is_right(face)


@only_unsanitized
@pytest.mark.parametrize("kind, factor", [("grey.png", 1), ("photo.jpg", 0.5), ("large.png", 3.7)])
def test_files(tmp_path, kind, factor):
    """Grey pictures, JPEG, and other sizes."""
    with Image.open(PORTRAIT) as picture:
        size = round(512 * factor)
        changed = picture.convert("L" if kind == "grey.png" else "RGB").resize((size, size))
    changed.save(tmp_path / kind)
    face, = parse(run("face", SHORT, tmp_path / kind))
    is_right(face, factor, most=13)


def test_proportions(tmp_path):
    """Wide and tall pictures are seen whole, between bars."""
    for size, place in (((900, 512), (300, 0)), ((512, 800), (0, 250))):
        wide = Image.new("RGB", size, (120, 130, 140))
        with Image.open(PORTRAIT) as picture:
            wide.paste(picture, place)
        wide.save(tmp_path / "wide.png")
        face, = parse(run("face", FULL, tmp_path / "wide.png"))
        is_right(face, 1, *place, most=13)


@only_unsanitized
def test_turned(tmp_path):
    """A picture is turned as its EXIF data say; in a mirror the eyes change places."""
    with Image.open(PORTRAIT) as picture:
        data = Image.Exif()
        data[0x112] = 6
        picture.transpose(Image.Transpose.ROTATE_90).save(tmp_path / "turned.jpg", exif=data,
                                                          quality=95)
        ImageOps.mirror(picture).save(tmp_path / "mirror.png")
    face, = parse(run("face", SHORT, tmp_path / "turned.jpg"))
    is_right(face)
    (_, _, key_points), = parse(run("face", FULL, tmp_path / "mirror.png"))
    for index, other in enumerate((1, 0, 2, 3)):
        x, y = key_points[index]
        assert math.dist((511 - x, y), PARTS[other]) < 13


@only_unsanitized
@needs_package
def test_several(tmp_path):
    """Each face of a picture is found once, the most probable first; Python finds the same."""
    group = Image.new("RGB", (900, 420), (200, 190, 180))
    places = ((1, -70, 60), (0.7, 280, 100), (0.8, 520, 30))
    with Image.open(PORTRAIT) as picture:
        for factor, left, top in places:
            part = picture.crop((90, 0, 380, 300))
            part = part.resize((round(290 * factor), round(300 * factor)))
            group.paste(part, (round(left + 90 * factor), top))
    group.save(tmp_path / "group.png")
    faces = parse(run("face", FULL, tmp_path / "group.png"))
    assert [probability for _, probability, _ in faces] == \
        sorted((probability for _, probability, _ in faces), reverse=True)
    for face, place in zip(sorted(faces), sorted(places, key=lambda place: place[1]), strict=True):
        is_right(face, *place, most=16)
    assert run_python("face", FULL, tmp_path / "group.png") == \
        run("face", FULL, tmp_path / "group.png")


@only_unsanitized
@needs_package
def test_python():
    """The program in Python prints the same."""
    assert run_python("face", SHORT, PORTRAIT) == run("face", SHORT, PORTRAIT)


@only_unsanitized
@pytest.mark.parametrize("options", [("-p", "bf16"), ("-p", "fp16", "-t", "2"), ("-d", "CPU")])
def test_precisions(options):
    """Other precisions, threads and an explicit device find it as well."""
    face, = parse(run("face", *options, SHORT, PORTRAIT))
    is_right(face)


@only_unsanitized
@pytest.mark.parametrize("ending", ["onnx", "tmfile"])
def test_formats(tmp_path, ending):
    """The network in other formats finds the same face."""
    run("tengine", "convert", SHORT, tmp_path / f"face.{ending}")
    assert run("face", tmp_path / f"face.{ending}", PORTRAIT) == run("face", SHORT, PORTRAIT)


def test_drawing(tmp_path):
    """Boxes and key points are drawn, and nothing else."""
    (box, _, key_points), = parse(run("face", "-o", tmp_path / "out.png", SHORT, PORTRAIT))
    with Image.open(PORTRAIT) as picture, Image.open(tmp_path / "out.png") as drawn:
        assert drawn.size == picture.size
        for point in key_points:
            assert drawn.getpixel(point) == (0, 255, 0)
        middle = (box[0] + box[2]) // 2, (box[1] + box[3]) // 2
        for x, y in ((box[0], middle[1]), (middle[0], box[1]), (middle[0], box[3])):
            assert (255, 0, 0) in drawn.crop((x - 2, y - 2, x + 3, y + 3)).getdata()
        for image in (picture, drawn):
            pen = ImageDraw.Draw(image)
            pen.rectangle([box[0] - 3, box[1] - 3, box[2] + 3, box[3] + 3], fill=0)
        assert drawn.tobytes() == picture.tobytes()


def test_no_face(tmp_path):
    """Pictures without a face have none, and neither has a level that no face reaches."""
    for size in ((1, 1), (3000, 2), (640, 480)):
        Image.new("RGB", size, (90, 120, 60)).save(tmp_path / "empty.png")
        assert run("face", SHORT, tmp_path / "empty.png") == ""
    with Image.open(PORTRAIT) as picture:
        picture.crop((280, 0, 512, 512)).save(tmp_path / "rocket.png")
    assert run("face", SHORT, tmp_path / "rocket.png") == ""
    assert run("face", "-l", "1", SHORT, PORTRAIT) == ""


@pytest.mark.parametrize("arguments, message", [
    ([], "face: 0 arguments, expected NETWORK and PICTURE"),
    (["-x", "a", "b"], "face: option -x: unknown"),
    (["-o"], "face: option -o: unknown, or without its value"),
    (["-l", "0", "a", "b"], "face: -l 0: expected a probability above 0, at most 1"),
    (["-l", "nan", "a", "b"], "-l nan: expected"),
    (["-t", "-1", "a", "b"], "-t -1: expected a number of threads"),
    (["-p", "int4", "a", "b"], "-p int4: expected"),
    (["absent.tflite", str(PORTRAIT)], "face: absent.tflite: cannot be loaded"),
    ([str(PORTRAIT), str(PORTRAIT)], "astronaut.png: cannot be loaded"),
    ([SHORT, "absent.png"], "cannot read the picture 'absent.png'"),
    ([SHORT, SHORT], "face_detection_short_range.tflite"),
    (["-p", "int8", SHORT, str(PORTRAIT)], "cannot run in int8"),
])
def test_misuse(arguments, message):
    """Each fault ends the program with a line that names it."""
    assert message in refuses("face", *arguments)


def test_unwritable(tmp_path):
    """A picture that cannot be written."""
    Image.new("L", (40, 30)).save(tmp_path / "empty.png")
    assert "absent/x.png: cannot write: No such file" in \
        refuses("face", "-o", tmp_path / "absent" / "x.png", SHORT, tmp_path / "empty.png")


def test_other_network():
    """A network with another input is refused."""
    digits = pathlib.Path(__file__).parents[3] / "examples" / "data" / "digits.onnx"
    assert "digits.onnx: expected an input of 1x128x128x3 or 1x192x192x3" in \
        refuses("face", digits, PORTRAIT)


def test_help():
    """The help names all options."""
    text = run("face", "-h")
    assert all(f"\n  -{letter} " in text for letter in "olptdh")


@pytest.fixture(scope="module")
def page_folder(tmp_path_factory):
    """Where the commands of docs/face.md have run: they quantise a network."""
    folder = tmp_path_factory.mktemp("page")
    shutil.copy(PORTRAIT, folder / "photo.png")
    (folder / "photos").mkdir()
    with Image.open(PORTRAIT) as picture:
        for index, (left, top) in enumerate(((-100, -80), (40, 0), (-30, 30), (60, -90), (0, 0))):
            moved = ImageOps.mirror(picture) if index % 2 else picture
            moved.crop((left, top, left + 460, top + 420)).save(folder / f"photos/{index}.png")
    run_page("docs/face.md", folder)
    return folder


@only_unsanitized
@needs_package
def test_int8(page_folder):
    """The quantised network finds the face."""
    face, = parse((page_folder / "in_int8").read_text())
    is_right(face)


@only_unsanitized
@needs_package
def test_devices(page_folder):
    """The simulated TPU finds the same, also with parts that are compiled ahead of time."""
    if "\ndevice TPU\n" not in run("tengine", "devices"):
        pytest.skip("the device TPU is not built")
    expected = (page_folder / "in_int8").read_text()
    options = ["-p", "int8", "-d", "TPU,CPU"]
    assert run("face", *options, page_folder / "face_int8.onnx", PORTRAIT) == expected
    run("tengine", "compile", page_folder / "face_int8.onnx", "-o", page_folder / "face.tmfile",
        "--device", "TPU", "--precision", "int8", "--option", "split.prune=0")
    assert run("face", *options, page_folder / "face.tmfile", PORTRAIT) == expected
