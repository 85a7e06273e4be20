# SPDX-License-Identifier: Apache-2.0
"""ImageDecoder (kernels_cpu/images) beside Debian's Pillow, which decodes with the same libraries, on pictures of
every format; and on pictures that are damaged, cut off or lie about their size.
Usage: /usr/bin/python3 images_test.py TOOL PLUGIN"""

import io
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper
from PIL import Image

TOOL, PLUGIN = sys.argv[1:3]
del sys.argv[1:]

VALUES = np.random.default_rng(1)
MOST = 40  # pixels along an axis that the plans have room for


def smooth(height, width):
    """A picture that compression with loss keeps recognisable."""
    y, x = np.mgrid[:height, :width]
    return np.stack([(x * 9 + y * 4) % 256, (x * 3 + 40) % 256, (y * 11) % 256], 2).astype(np.uint8)


def encoded(picture, **options):
    file = io.BytesIO()
    picture.save(file, **options)
    return file.getvalue()


def pictures():
    """(name, bytes) of files that are decoded."""
    for height, width in ((1, 1), (7, 13), (17, 8), (40, 33)):
        rgb = Image.fromarray(smooth(height, width))
        noise = Image.fromarray(VALUES.integers(0, 256, (height, width, 3), np.uint8))
        gray, palette, bits = noise.convert("L"), noise.quantize(16), noise.convert("1")
        clear = noise.copy()
        clear.putalpha(gray)
        size = f"{height}x{width}"
        for kind, picture in (("rgb", noise), ("gray", gray), ("palette", palette), ("bits", bits), ("clear", clear)):
            yield f"png {kind} {size}", encoded(picture, format="PNG")
        for options in ({}, {"progressive": True}, {"quality": 30}, {"subsampling": 0}, {"subsampling": 1}):
            yield f"jpeg {options} {size}", encoded(rgb, format="JPEG", **options)
        yield f"jpeg gray {size}", encoded(gray, format="JPEG")
        for kind, picture in (("rgb", noise), ("gray", gray), ("palette", palette), ("bits", bits)):
            for compression in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"):
                yield f"tiff {kind} {compression} {size}", encoded(picture, format="TIFF", compression=compression)
            yield f"bmp {kind} {size}", encoded(picture, format="BMP")
        yield f"bmp clear {size}", encoded(clear, format="BMP")
        for lossless in (True, False):
            yield f"webp {lossless} {size}", encoded(rgb, format="WEBP", lossless=lossless)
        yield f"jpeg2000 {size}", encoded(rgb, format="JPEG2000")
        yield f"jpeg2000 lossy {size}", encoded(rgb, format="JPEG2000", irreversible=True, quality_layers=[4])
        yield f"jpeg2000 gray {size}", encoded(gray, format="JPEG2000")
        for kind, picture in (("rgb", noise), ("gray", gray), ("bits", bits)):
            yield f"pnm {kind} {size}", encoded(picture, format="PPM")
    text = " ".join(str(v) for v in smooth(2, 3).ravel())
    yield "pnm text", f"P3 # a comment\n3 2\n# another\n255\n{text}".encode()
    yield "pnm text, bits", b"P1\n3 2\n101\n0 1 0"
    yield "pnm of fewer values", b"P5 3 1 7 " + bytes([0, 3, 7])
    yield "bmp of 16 bits", bmp(16, 0, b"", b"".join(struct.pack("<H", v) for v in (0x7c00, 0x03e0, 0x001f, 0x1234)))
    yield "bmp with masks", bmp(16, 3, struct.pack("<III", 0xf800, 0x07e0, 0x001f),
                                b"".join(struct.pack("<H", v) for v in (0xf800, 0x07e0, 0x001f, 0x4321)))


def bmp(bits, compression, masks, row, width=4, height=1):
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, len(row), 0, 0, 0, 0)
    begin = 14 + len(header) + len(masks)
    return struct.pack("<2sIHHI", b"BM", begin + len(row), 0, 0, begin) + header + masks + row


def expected(data, pixel_format):
    picture = Image.open(io.BytesIO(data))
    rgb = picture.convert("RGB") if picture.mode != "RGBA" else Image.merge("RGB", picture.split()[:3])
    if pixel_format == "Grayscale":
        return np.asarray(rgb.convert("L"))[:, :, None]
    return np.asarray(rgb)[:, :, ::-1] if pixel_format == "BGR" else np.asarray(rgb)


class Decoder:
    """A plan with room for pictures of MOST times MOST pixels, in files of up to 64 KiB."""

    def __init__(self, folder, pixel_format="RGB"):
        self.folder = pathlib.Path(folder)
        node = helper.make_node("ImageDecoder", ["encoded"], ["image"], pixel_format=pixel_format)
        graph = helper.make_graph(
            [node], "test", [helper.make_tensor_value_info("encoded", TensorProto.UINT8, ["n"])],
            [helper.make_tensor_value_info("image", TensorProto.UINT8, [None, None, None])])
        onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 20)]),
                  self.folder / "model.onnx")
        self.plan = self.folder / "model.plan"
        channels = 1 if pixel_format == "Grayscale" else 3
        self.call("convert", self.folder / "model.onnx", "-o", self.plan, "--dim", "n=0..65536", "--bound",
                  f"image={MOST}x{MOST}x{channels}")

    def call(self, *arguments, check=True):
        done = subprocess.run([TOOL, *arguments, "--operators", PLUGIN], capture_output=True, text=True,
                              errors="replace", check=False)
        if done.returncode not in ((0,) if check else (0, 1)):
            raise AssertionError(f"the tool ended with {done.returncode}: {done.stderr}")
        return done

    def __call__(self, data):
        """The picture, or the message."""
        np.save(self.folder / "encoded.npy", np.frombuffer(data, np.uint8))
        done = self.call("run", self.plan, "--output-dir", self.folder, "--input",
                         f"encoded={self.folder / 'encoded.npy'}", check=False)
        return done.stderr if done.returncode else np.load(self.folder / "output_0.npy")


class Images(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_pictures(self):
        decoders = {}
        for pixel_format in ("RGB", "BGR", "Grayscale"):
            (pathlib.Path(self.folder) / pixel_format).mkdir()
            decoders[pixel_format] = Decoder(pathlib.Path(self.folder) / pixel_format, pixel_format)
        for number, (name, data) in enumerate(pictures()):
            for pixel_format in ("RGB", ("BGR", "Grayscale")[number % 2]) if "7x13" in name else ("RGB",):
                with self.subTest(name, pixel_format=pixel_format):
                    found = decoders[pixel_format](data)
                    self.assertIsInstance(found, np.ndarray, found)
                    wanted = expected(data, pixel_format)
                    self.assertEqual(found.shape, wanted.shape)
                    # Of 16 bits Pillow cuts what is rounded here.
                    np.testing.assert_allclose(found.astype(int), wanted.astype(int),
                                               atol=8 if "16" in name or "mask" in name else 0)

    def refused(self, decoder, data, *words):
        found = decoder(data)
        self.assertIsInstance(found, str, f"{data[:20]} is not refused")
        for word in words:
            self.assertIn(word, found)

    def test_unknown_formats(self):
        decoder = Decoder(self.folder)
        gif = encoded(Image.fromarray(smooth(4, 4)).quantize(4), format="GIF")
        for data in (b"", b"P", b"P9 1 1 255 x", b"\x89PNG", b"hello, world", gif, b"RIFF\0\0\0\0WAVEfmt "):
            self.refused(decoder, data, "begin as no format", "JPEG 2000")

    def test_unserved_forms(self):
        decoder = Decoder(self.folder)
        rgb = Image.fromarray(smooth(6, 6))
        self.refused(decoder, encoded(rgb.convert("CMYK"), format="JPEG"), "JPEG", "neither gray")
        moving = encoded(rgb, format="WEBP", save_all=True, append_images=[Image.fromarray(smooth(6, 6)[::-1])])
        self.refused(decoder, moving, "WebP animation")
        self.refused(decoder, bmp(8, 1, b"", b"\4\0\0\1"), "BMP", "compression")
        self.refused(decoder, bmp(7, 0, b"", bytes(8)), "bits for each pixel")

    def test_pictures_beyond_the_bound(self):
        """Refused by what they say of their size, whatever follows."""
        decoder = Decoder(self.folder)
        large = Image.fromarray(smooth(MOST + 1, 8))
        for kind in ("PNG", "JPEG", "TIFF", "WEBP", "JPEG2000", "BMP", "PPM"):
            self.refused(decoder, encoded(large, format=kind), "output extent beyond its planned maximum")
        for data in (b"P6 2000000000 2000000000 255 ", b"P6 4294967297 1 255 x", bmp(24, 0, b"", b"", 2**31 - 1, -2**31)):
            self.refused(decoder, data)
        huge = bytearray(encoded(Image.fromarray(smooth(4, 4)), format="PNG"))
        huge[16:24] = struct.pack(">II", 900000, 900000)
        self.refused(decoder, bytes(huge))
        for data in (b"P6 0 5 255 ", bmp(24, 0, b"", b"", 0, 4)):
            self.refused(decoder, data, "without pixels")

    def test_damaged_pictures(self):
        """Each file cut off is refused; with bytes changed it is refused, or is some picture."""
        decoder, choose = Decoder(self.folder), random.Random(1)
        rgb = Image.fromarray(smooth(9, 12))
        for kind in ("PNG", "JPEG", "TIFF", "WEBP", "JPEG2000", "BMP", "PPM"):
            data = encoded(rgb, format=kind)
            for length in {1, 10, 20, 60, len(data) // 3, len(data) * 2 // 3, len(data) * 9 // 10}:
                with self.subTest(kind, length=length):
                    if length < len(data):
                        self.refused(decoder, data[:length])
            for number in range(12):
                changed = bytearray(data)
                for _ in range(choose.choice((1, 1, 4, 20))):
                    place = choose.randrange(min(len(data), 120) if number % 2 else len(data))
                    changed[place] = choose.choice((0, 255, 128, choose.randrange(256)))
                with self.subTest(kind, number=number):
                    self.assertIsNotNone(decoder(bytes(changed)))


if __name__ == "__main__":
    unittest.main()
