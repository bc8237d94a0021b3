# SPDX-License-Identifier: Apache-2.0
"""examples/ocr and examples/python/ocr.py on 60 lines of rendered text."""
import math
import pathlib
import re
import shutil

import pytest
from conftest import (NETWORKS, SANITIZED, needs_package, only_unsanitized, refuses, run, run_page,
                      run_python)
from PIL import Image
from rendered_text import distance, make_page

PAGE_NUM = 1 if SANITIZED else 6
SAMPLE_PAGE = 1000  # with other lines than those of the first pages


def parse(output):
    """The box, the confidence and the text of each line of output."""
    lines = [line.split(" ", 5) for line in output.splitlines()]
    return [([tuple(map(int, corner.split(","))) for corner in line[:4]], float(line[4]), line[5])
            for line in lines]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Files of pages with their lines."""
    folder = tmp_path_factory.mktemp("pages")
    made = []
    for index in range(PAGE_NUM):
        page, lines = make_page(index)
        page.save(folder / f"{index}.png")
        made.append((folder / f"{index}.png", lines))
    return made


def share_read(pages, *options):
    """The share of the characters that the program reads, in the order of the lines."""
    errors = character_num = 0
    for path, lines in pages:
        found = [text for _, _, text in parse(run("ocr", *options, NETWORKS, path))]
        assert len(found) == len(lines), found
        errors += sum(map(distance, lines, found))
        character_num += sum(map(len, lines))
    print(f"{character_num} characters, {errors} errors")
    return 1 - errors / character_num


def test_float(pages):
    """The float networks read the lines."""
    assert share_read(pages) >= 0.99


@pytest.fixture(scope="module")
def quantized(pages, tmp_path_factory):
    """The recognition in int8, calibrated with lines of another page by the commands of docs/ocr.md."""
    folder = tmp_path_factory.mktemp("page")
    shutil.copy(pages[0][0], folder / "photo.png")
    page, lines = make_page(SAMPLE_PAGE, 16)
    page.save(folder / "other.png")
    run_page("docs/ocr.md", folder)
    assert len(list((folder / "samples").iterdir())) == len(lines)
    return folder / "recognition_int8.onnx"


@only_unsanitized
@needs_package
def test_int8(pages, quantized):
    """The quantised recognition reads the lines, in C and in Python."""
    assert share_read(pages, "-r", quantized, "-p", "int8") >= 0.985
    path, lines = pages[0]
    output = run_python("ocr", "-r", quantized, "-p", "int8", NETWORKS, path)
    found = [text for _, _, text in parse(output)]
    assert sum(map(distance, lines, found)) <= 2


@only_unsanitized
@pytest.mark.parametrize("options", [("-p", "bf16"), ("-p", "fp16", "-t", "2"), ("-d", "CPU")])
def test_precisions(pages, options):
    """Other precisions, threads and an explicit device read them as well."""
    assert share_read(pages[:1], *options) >= 0.98


@only_unsanitized
@needs_package
def test_python(pages):
    """The program in Python finds the same lines."""
    path, _ = pages[0]
    found, expected = parse(run_python("ocr", NETWORKS, path)), parse(run("ocr", NETWORKS, path))
    assert [text for _, _, text in found] == [text for _, _, text in expected]
    for (box, confidence, _), (other, other_confidence, _) in zip(found, expected):
        assert max(math.dist(a, b) for a, b in zip(box, other)) <= 1.5
        assert abs(confidence - other_confidence) < 0.02


@only_unsanitized
@pytest.mark.parametrize("turn, exif", [(180, 1), (270, 1), (12, 1), (90, 6)])
def test_turned(pages, tmp_path, turn, exif):
    """Lines are read from where they begin, and a photo as its EXIF data turn it."""
    path, lines = pages[0]
    with Image.open(path) as page:
        turned = page.rotate(turn, Image.Resampling.BICUBIC, expand=True,
                             fillcolor=page.getpixel((0, 0)))
    data = Image.Exif()
    data[0x112] = exif
    turned.save(tmp_path / "turned.jpg", quality=95, exif=data)
    found = parse(run("ocr", NETWORKS, tmp_path / "turned.jpg"))
    errors = sum(min(distance(line, text) for _, _, text in found) for line in lines)
    assert errors <= 0.02 * sum(map(len, lines))
    angle = 0 if exif == 6 else turn
    for (x0, y0), (x1, y1), *_ in (box for box, _, _ in found):
        difference = math.degrees(math.atan2(y0 - y1, x1 - x0)) - angle
        assert abs((difference + 180) % 360 - 180) < 3


@only_unsanitized
def test_drawing(pages, tmp_path):
    """The picture with the boxes is that of the page elsewhere."""
    path, _ = pages[0]
    boxes = [box for box, _, _ in parse(run("ocr", "-o", tmp_path / "out.png", NETWORKS, path))]
    with Image.open(path) as page, Image.open(tmp_path / "out.png") as drawn:
        assert drawn.size == page.size and drawn.mode == "RGB"
        for box in boxes:
            for x, y in box:
                near = drawn.crop((x - 2, y - 2, x + 3, y + 3))
                assert (255, 0, 0) in near.getdata()
        red = sum(pixel == (255, 0, 0) for pixel in drawn.getdata())
        changed = sum(a != b for a, b in zip(page.getdata(), drawn.getdata()))
        perimeters = sum(math.dist(box[i], box[i - 1]) for box in boxes for i in range(4))
    assert red == changed
    assert 1.5 * perimeters < red < 3 * perimeters


def test_no_text(tmp_path):
    """Pictures without text, of any size, have no lines."""
    for size in ((1, 1), (2000, 3), (640, 480)):
        Image.new("RGB", size, (90, 120, 60)).save(tmp_path / "empty.png")
        assert run("ocr", "-o", tmp_path / "out.png", NETWORKS, tmp_path / "empty.png") == ""
        with Image.open(tmp_path / "out.png") as drawn:
            assert drawn.size == size


@pytest.mark.parametrize("arguments, message", [
    ([], "ocr: 0 arguments, expected NETWORKS and PICTURE"),
    (["a", "b", "c"], "ocr: 3 arguments"),
    (["-x", "a", "b"], "ocr: option -x: unknown"),
    (["-r"], "ocr: option -r: unknown, or without its value"),
    (["-t", "some", "a", "b"], "ocr: -t some: expected a number of threads from 0 to 1024"),
    (["-p", "int4", "a", "b"], "ocr: -p int4: expected fp32, fp16, bf16, int8 or uint8"),
    (["absent", "PAGE"], "ocr: absent/ppocr_keys_v1.txt: cannot read the characters"),
    (["x" * 5000, "PAGE"], "ocr: ppocr_keys_v1.txt: the path has 5018 characters"),
    ([NETWORKS, "absent.png"], "cannot read the picture 'absent.png'"),
    ([NETWORKS, __file__], "test_ocr.py'"),
    (["-d", "ABSENT", NETWORKS, "PAGE"], "ABSENT"),
    (["-d", "x" * 300, NETWORKS, "PAGE"], "ocr: -d: 300 characters, expected at most 255"),
    (["-r", "absent.onnx", NETWORKS, "PAGE"], "absent.onnx"),
    (["-r", f"{NETWORKS}/ch_ppocr_mobile_v2.0_cls_infer.onnx", NETWORKS, "PAGE"],
     "output 0 has 2 dimensions and data type 0, expected 3"),
    (["-p", "int8", NETWORKS, "PAGE"], "cannot run in int8"),
])
def test_misuse(pages, arguments, message):
    """Each fault ends the program with a line that names it."""
    arguments = [str(pages[0][0]) if word == "PAGE" else word for word in arguments]
    assert message in refuses("ocr", *arguments)


def test_faulty_files(pages, tmp_path):
    """Characters that are not the network's, and a picture that cannot be written."""
    networks = tmp_path / "networks"
    shutil.copytree(NETWORKS, networks)
    path = pages[0][0]
    (networks / "ppocr_keys_v1.txt").write_text("a\nb\n")
    assert re.search("6625 classes, expected 4: the characters", refuses("ocr", networks, path))
    (networks / "ppocr_keys_v1.txt").write_text("")
    assert "expected 2: the characters" in refuses("ocr", networks, path)


def test_unwritable(tmp_path):
    """A picture that cannot be written."""
    Image.new("L", (40, 30)).save(tmp_path / "empty.png")
    message = refuses("ocr", "-o", tmp_path / "absent" / "x.png", NETWORKS, tmp_path / "empty.png")
    assert "absent/x.png: cannot write: No such file" in message
    if pathlib.Path("/dev/full").exists():
        message = refuses("ocr", "-o", "/dev/full", NETWORKS, tmp_path / "empty.png")
        assert "/dev/full: cannot write: No space left" in message


def test_help():
    """The help names all options."""
    text = run("ocr", "-h")
    assert all(f"\n  -{letter} " in text for letter in "orptdh")
