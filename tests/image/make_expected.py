#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the pictures in data/, and data/expected.txt: the bytes that Pillow makes of them.

    tests/image/make_expected.py [--check]

With --check nothing is written; the exit status is 1 if expected.txt would differ, and 77 without
Pillow. A line of expected.txt is: picture, channels, height, width, the largest accepted difference,
settings as JSON, bytes in hexadecimal digits. JPEG decoders round differently, so that pictures of
that kind have a difference above 0.
"""
import io
import json
import pathlib
import struct
import sys
import zlib

try:
    import numpy
    from PIL import Image, ImageOps
except ImportError as missing:
    print(f"make_expected.py: {missing}")
    sys.exit(77)

DATA = pathlib.Path(__file__).resolve().parent / "data"
BILINEAR = Image.Resampling.BILINEAR


def make_pixels(height, width, channels, seed):
    """Waves with a little noise, so that neighbours differ."""
    random = numpy.random.default_rng(seed)
    y, x, c = numpy.mgrid[0:height, 0:width, 0:channels].astype(float)
    waves = 128 + 90 * numpy.sin(x / 3.1 + c) * numpy.cos(y / 4.3 - c / 2)
    return (waves + random.integers(0, 38, waves.shape)).clip(0, 255).astype(numpy.uint8)


def encode(image, kind, **options):
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def chunk(kind, content):
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)


def make_png16(values):
    """A PNG of 16 bits, grey or RGB."""
    height, width = values.shape[:2]
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in values)
    header = struct.pack(">IIBBBBB", width, height, 16, 0 if values.ndim == 2 else 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) +
            chunk(b"IEND", b""))


def with_orientation(image, kind, value):
    exif = Image.Exif()
    exif[0x0112] = value
    return encode(image, kind, exif=exif)


def without_adobe(jpeg):
    """The same file without its APP14 segment."""
    at = jpeg.index(b"\xff\xee")
    length = struct.unpack(">H", jpeg[at + 2:at + 4])[0]
    return jpeg[:at] + jpeg[at + 2 + length:]


def make_pictures():
    colour = Image.fromarray(make_pixels(23, 37, 3, 1))
    grey = Image.fromarray(make_pixels(19, 13, 1, 2)[:, :, 0])
    smooth = Image.fromarray(make_pixels(48, 64, 3, 3)).resize((64, 48), BILINEAR)
    wide = numpy.random.default_rng(4).integers(0, 65536, (9, 7, 3)).astype(numpy.uint16)
    small = colour.resize((17, 11))
    pictures = {
        "colour.png": encode(colour, "PNG"),
        "grey.png": encode(grey, "PNG"),
        "alpha.png": encode(Image.fromarray(make_pixels(11, 17, 4, 5)), "PNG"),
        "grey_alpha.png": encode(Image.fromarray(make_pixels(11, 17, 2, 6)), "PNG"),
        "palette.png": encode(small.quantize(11), "PNG"),
        "mask.png": encode(grey.convert("1"), "PNG"),
        "grey16.png": make_png16(wide[:, :, 0]),
        "colour16.png": make_png16(wide),
        "colour.bmp": encode(small, "BMP"),
        "colour.ppm": encode(small, "PPM"),
        "low.pgm": b"P5\n# numbers to 15\n13 19\n15\n" + bytes(
            (numpy.asarray(grey) >> 4).tobytes()),
        "fine.jpeg": encode(smooth, "JPEG", quality=95, subsampling=0),
        "coarse.jpeg": encode(smooth, "JPEG", quality=90, subsampling=2),
        "progressive.jpeg": encode(smooth, "JPEG", quality=95, subsampling=0, progressive=True),
        "grey.jpeg": encode(smooth.convert("L"), "JPEG", quality=95),
        "cmyk.jpeg": encode(smooth.convert("CMYK"), "JPEG", quality=95),
    }
    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pictures["swollen.png"] = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
                               chunk(b"IDAT", zlib.compress(bytes(1 << 24), 9)) + chunk(b"IEND", b""))
    pictures["cmyk_bare.jpeg"] = without_adobe(pictures["cmyk.jpeg"])
    for value in range(1, 9):
        pictures[f"turned_{value}.jpeg"] = with_orientation(grey, "JPEG", value)
        pictures[f"turned_{value}.png"] = with_orientation(small, "PNG", value)
    return pictures


def open_picture(name, content, channels):
    image = Image.open(io.BytesIO(content))
    image.load()
    if name == "grey16.png":  # Pillow's convert() would clip at 255
        image = Image.fromarray((numpy.asarray(image).astype(int) >> 8).astype(numpy.uint8))
    return image, "L" if channels == 1 else "RGB"


def fit(image, settings, height, width):
    how = settings.get("fit", "stretch")
    fill = settings.get("fill", 114)
    if image.mode == "RGB":
        fill = (fill,) * 3 if isinstance(fill, int) else tuple(fill)
    elif not isinstance(fill, int):
        fill = fill[0]
    if how == "letterbox":
        return ImageOps.pad(image, (width, height), BILINEAR, color=fill)
    if "shorter_side" in settings:  # as torchvision's Resize and CenterCrop
        side = settings["shorter_side"]
        if image.height > image.width:
            size = side, int(side * image.height / image.width)
        else:
            size = int(side * image.width / image.height), side
        image = image.resize(size, BILINEAR)
        left, top = round((size[0] - width) / 2.0), round((size[1] - height) / 2.0)
        return image.crop((left, top, left + width, top + height))
    if how == "crop":
        return ImageOps.fit(image, (width, height), BILINEAR)
    return image.resize((width, height), BILINEAR)


def expect(name, content, channels, height, width, settings):
    image, mode = open_picture(name, content, channels)
    if settings.get("orientation") == "exif":
        image = ImageOps.exif_transpose(image)
    if "box" in settings:
        image = image.crop(tuple(settings["box"]))
    made = numpy.asarray(fit(image.convert(mode), settings, height, width))
    if settings.get("format") == "bgr":
        made = made[:, :, ::-1]
    if settings.get("layout") != "nhwc" and channels == 3:
        made = made.transpose(2, 0, 1)
    return made.tobytes()


def list_cases():
    for height, width in (23, 37), (5, 4), (11, 17), (60, 3), (1, 1), (40, 41):
        yield "colour.png", 3, height, width, {}
        yield "grey.png", 1, height, width, {}
    for how in "crop", "letterbox":
        for height, width in (5, 4), (13, 29), (31, 7), (23, 37), (1, 2):
            yield "colour.png", 3, height, width, {"fit": how}
        yield "grey.png", 1, 7, 7, {"fit": how}
    yield "colour.png", 3, 9, 30, {"fit": "letterbox", "fill": [1, 2, 3]}
    yield "grey.png", 1, 9, 30, {"fit": "letterbox", "fill": 7}
    for side, height, width in (32, 28, 28), (7, 7, 7), (13, 12, 9), (57, 40, 51), (23, 23, 36):
        yield "colour.png", 3, height, width, {"fit": "crop", "shorter_side": side}
    yield "grey.png", 1, 11, 12, {"fit": "crop", "shorter_side": 13}
    yield "colour.png", 3, 8, 8, {"format": "bgr"}
    yield "colour.png", 3, 8, 8, {"layout": "nhwc"}
    yield "colour.png", 3, 8, 8, {"layout": "nhwc", "format": "bgr"}
    yield "colour.png", 3, 8, 9, {"box": [3, 2, 20, 21]}
    yield "colour.png", 3, 6, 6, {"box": [33, 0, 37, 23], "fit": "letterbox"}
    yield "colour.png", 1, 9, 8, {}
    yield "grey.png", 3, 9, 8, {}
    for name in ("alpha.png", "grey_alpha.png", "palette.png", "mask.png", "grey16.png",
                 "colour16.png", "colour.bmp", "colour.ppm", "low.pgm"):
        yield name, 3, 7, 9, {}
        yield name, 1, 11, 17, {}
    for name in "fine.jpeg", "coarse.jpeg", "progressive.jpeg", "grey.jpeg", "cmyk.jpeg":
        yield name, 3, 12, 16, {}
        yield name, 1, 5, 7, {"fit": "crop"}
    for value in range(1, 9):
        yield f"turned_{value}.png", 3, 11, 17, {"orientation": "exif"}
        yield f"turned_{value}.jpeg", 1, 7, 5, {"orientation": "exif", "fit": "crop"}
    yield "turned_6.png", 3, 11, 17, {}
    yield "turned_6.png", 3, 6, 5, {"orientation": "stored"}
    yield "turned_5.png", 3, 6, 5, {"orientation": "exif", "box": [1, 2, 10, 17], "fit": "crop"}


def main():
    pictures = make_pictures()
    lines = []
    for name, channels, height, width, settings in list_cases():
        stored = DATA / name
        content = stored.read_bytes() if "--check" in sys.argv else pictures[name]
        made = expect(name, content, channels, height, width, settings)
        difference = 1 if name.endswith("jpeg") else 0
        lines.append(f"{name} {channels} {height} {width} {difference} "
                     f"{json.dumps(settings, separators=(',', ':'))} {made.hex()}\n")
    if "--check" in sys.argv:
        if (DATA / "expected.txt").read_text() != "".join(lines):
            sys.exit("make_expected.py: this Pillow gives other bytes than those of expected.txt")
        return
    for name, content in pictures.items():
        (DATA / name).write_bytes(content)
    (DATA / "expected.txt").write_text("".join(lines))


main()
