#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders pictures of text for read_text, with Debian's fonts: NAME.png and its lines, NAME.txt.

    render.py FOLDER

Needs Debian's packages python3-pil and fonts-dejavu-core.
"""

import pathlib
import sys

from PIL import Image, ImageDraw, ImageFont

FONTS = pathlib.Path("/usr/share/fonts/truetype/dejavu")


def font(size, name="DejaVuSans"):
    return ImageFont.truetype(str(FONTS / f"{name}.ttf"), size)


def page(width, height, lines):
    """A white page; `lines`: x, y, font size, text."""
    picture = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(picture)
    for x, y, size, text in lines:
        draw.text((x, y), text, fill=(20, 20, 60), font=font(size))
    return picture


LETTER = [(60, 50, 40, "Invoice 2026-0417"), (60, 150, 24, "Twelve boxes of coffee beans"),
          (60, 205, 24, "Delivered on 14 April, 9:30"), (60, 260, 24, "Total 318.50 EUR"),
          (60, 330, 18, "Thank you for your order")]
RECEIPT = [(20, 20, 22, "CORNER SHOP"), (20, 70, 18, "Bread 2.40"), (20, 110, 18, "Milk 1.15"),
           (20, 150, 18, "Apples 3.99")]
POSTER = [(200, 200, 150, "Summer festival"), (200, 600, 90, "Music from noon to midnight"),
          (200, 900, 90, "Entrance free")]


def turned(picture, degrees):
    return picture.rotate(degrees, expand=True, fillcolor="white", resample=Image.BICUBIC)


def pictures():
    yield "letter", page(640, 400, LETTER), LETTER
    yield "receipt", page(230, 200, RECEIPT), RECEIPT
    yield "poster", page(2400, 1400, POSTER), POSTER
    yield "turned", turned(page(640, 400, LETTER), 8), LETTER


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture, lines in pictures():
        picture.save(folder / f"{name}.png")
        (folder / f"{name}.txt").write_text("".join(f"{text}\n" for *_, text in lines))


if __name__ == "__main__":
    main()
