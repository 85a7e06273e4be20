#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders lines of text in three of Debian's fonts, for fine_tune to tell apart.

    render.py FOLDER

Writes FOLDER/train.u8 and FOLDER/test.u8: pictures of 3 x 48 x 192 bytes, each behind a byte that
says which font it is. Needs Debian's packages python3-pil and fonts-dejavu-core.
"""

import pathlib
import random
import sys

from PIL import Image, ImageDraw, ImageFont

FONTS = ["DejaVuSans", "DejaVuSerif", "DejaVuSansMono"]
FOLDER = "/usr/share/fonts/truetype/dejavu"
WORDS = """amber bridge candle drift ember forest garden harbor island jacket kettle lantern meadow
needle orchard pepper quarry ribbon saddle timber umbrella velvet willow yellow zipper copper
9:30 14.50 2026 318 Nr.7 A4""".split()


def line(rng, font):
    ink, paper = rng.randrange(0, 90), rng.randrange(180, 256)
    picture = Image.new("RGB", (192, 48), (paper, paper, paper - rng.randrange(30)))
    size = rng.randrange(20, 34)
    text = f"{rng.choice(WORDS)} {rng.choice(WORDS)}"
    face = ImageFont.truetype(f"{FOLDER}/{FONTS[font]}.ttf", size)
    ImageDraw.Draw(picture).text((rng.randrange(2, 14), (48 - size) // 2 - rng.randrange(4)), text,
                                 fill=(ink, ink, ink + 40), font=face)
    planes = picture.split()
    return bytes([font]) + b"".join(plane.tobytes() for plane in planes)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(7)
    for name, count in (("train", 240), ("test", 90)):
        pictures = [line(rng, i % len(FONTS)) for i in range(count)]
        (folder / f"{name}.u8").write_bytes(b"".join(pictures))


if __name__ == "__main__":
    main()
