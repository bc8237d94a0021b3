# SPDX-License-Identifier: Apache-2.0
"""Pages of text, rendered by Pillow with the DejaVu fonts, and the distance of strings."""
import random

from PIL import Image, ImageDraw, ImageFont

FONTS = "/usr/share/fonts/truetype/dejavu/DejaVu"
FACES = ("Sans", "Sans-Bold", "SansMono", "Serif")
WORDS = """the quick brown fox jumps over a lazy dog while seven wizards brew coffee for king queen
and jack in northern village near river bridge market station platform ticket window morning evening
summer winter letter number address street invoice total amount payment order customer service
account balance water energy copper silver golden garden flower yellow purple machine engine network
pixel frame camera sensor driver kernel memory thread signal""".split()


def make_line(source):
    """A line of words, some with capitals, numbers and marks."""
    words = [source.choice(WORDS) for _ in range(source.randrange(3, 6))]
    kinds = (" ".join(words), " ".join(words).capitalize() + ".", " ".join(words).title(),
             f"{words[0].capitalize()} {source.randrange(1, 9999)}, {words[1]} "
             f"{source.randrange(1, 99)}.{source.randrange(10, 99)}")
    return source.choice(kinds)


def make_page(seed, line_num=10):
    """A picture, and its lines from the top to the bottom."""
    source = random.Random(seed)
    page = Image.new("RGB", (900, 60 * line_num + 40), (245, 244, 238))
    draw = ImageDraw.Draw(page)
    lines = [make_line(source) for _ in range(line_num)]
    for index, line in enumerate(lines):
        font = ImageFont.truetype(f"{FONTS}{source.choice(FACES)}.ttf", source.randrange(18, 31))
        colour = tuple(source.randrange(80) for _ in range(3))
        draw.text((source.randrange(20, 60), 25 + 60 * index), line, fill=colour, font=font)
    return page, lines


def distance(a, b):
    """Characters that are inserted, deleted or replaced (Levenshtein)."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (x != y))
    return row[-1]
