# SPDX-License-Identifier: Apache-2.0
"""PRT-17: compile_and_load, and the plans that are kept: by contents, options and version."""

import os
import pickle
import shutil
import unittest
from unittest import mock

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import intarsia
import intarsia.cache
import support
from intarsia.flags import options_of

FLOAT = support.FLOAT


def model(rate=2.0):
    nodes = [helper.make_node("Mul", ["x", "rate"], ["m"]),
             helper.make_node("Add", ["m", "offset"], ["y"])]
    return support.model(nodes, {"x": (FLOAT, ["n"]), "offset": (FLOAT, [])}, {"y": (FLOAT, None)},
                         [numpy_helper.from_array(np.array([rate], np.float32), "rate")])


class Cache(unittest.TestCase):
    def setUp(self):
        self.folder = support.FOLDER / self.id().split(".")[-1]
        self.folder.mkdir()
        self.kept = self.folder / "kept"
        self.path = self.folder / "m.onnx"
        onnx.save(model(), self.path)
        self.flags = "--dim n=4 --fix offset=1"

    def made(self, call, *arguments, **options):
        """Whether a plan was made, and what the model computes of [1, 2]."""
        with mock.patch.object(intarsia.cache, "convert", wraps=intarsia.convert) as convert:
            session = call(*arguments, cache=self.kept, **options)
        return convert.call_count, session.run([np.array([1, 2], np.float32)])[0].tolist()

    def load(self, *arguments, **options):
        return self.made(intarsia.compile_and_load, *arguments, **options)

    def test_PRT_17_one_step(self):
        self.assertEqual(self.load(self.path, self.flags), (1, [3, 5]))
        self.assertEqual(self.load(self.path, self.flags), (0, [3, 5]))
        kept, = self.kept.iterdir()
        self.assertEqual(kept.suffix, ".plan")
        self.assertEqual(kept.read_bytes(),
                         support.convert(model(), *self.flags.split()).read_bytes())
        # The forms of the options are one.
        for flags, options in ((self.flags.split(), {}), ({"dims": {"n": 4}, "fixed": {"offset": 1}}, {}),
                               ("--dim=n=4", {"fixed": {"offset": 1}})):
            self.load(self.path, flags, **options)
            self.assertLessEqual(len(list(self.kept.iterdir())), 4)

    def test_PRT_17_content_counts_and_nothing_else_of_a_file(self):
        self.load(self.path, self.flags)
        os.utime(self.path, (1, 1))
        moved = self.folder / "another name"
        shutil.move(self.path, moved)
        self.assertEqual(self.load(moved, self.flags), (0, [3, 5]))
        self.assertEqual(self.load(moved.read_bytes(), self.flags), (0, [3, 5]))
        times = os.stat(moved)
        onnx.save(model(3.0), moved)
        os.utime(moved, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.assertEqual(self.load(moved, self.flags), (1, [4, 7]))

    def test_PRT_17_every_option_counts(self):
        base = {"dims": {"n": 4}, "fixed": {"offset": 1}}
        self.made(intarsia.InferenceSession, self.path, **base)
        for changed, made in (({}, 0), ({"fixed": {"offset": 2}}, 1), ({"dims": {"n": 5}}, 1),
                              ({"dims": {"n": (2, 4)}}, 1), ({"threads": 2}, 1), ({"seed": 1}, 1),
                              ({"strip_names": True}, 1), ({"target": "cortex-m"}, 1),
                              ({"fixed": {"offset": np.float32(2)}}, 1),
                              ({"fixed": {"offset": np.array(2, np.float32)}}, 1),
                              ({"fixed": {"offset": np.array(3, np.float32)}}, 1),
                              ({"fixed": {"offset": np.array(3, np.float32)}}, 0)):
            offset = changed.get("fixed", base["fixed"])["offset"]
            self.assertEqual(self.made(intarsia.InferenceSession, self.path, **{**base, **changed}),
                             (made, [2 + offset, 4 + offset]), changed)

    def test_PRT_17_files_that_options_name(self):
        file = self.folder / "offset.npy"
        for offset, made in ((1, 1), (2, 1), (1, 0)):
            np.save(file, np.array(offset, np.float32))
            self.assertEqual(self.load(self.path, f"--dim n=4 --fix offset={file}"),
                             (made, [2 + offset, 4 + offset]))

    def test_PRT_17_external_data(self):
        content = None
        for rate, made in ((2.0, 1), (3.0, 1), (2.0, 0)):
            (self.folder / "w.bin").unlink(missing_ok=True)
            onnx.save(model(rate), self.path, save_as_external_data=True, location="w.bin",
                      size_threshold=0)
            # The model file is the same: only the data beside it tells them apart.
            content = content or self.path.read_bytes()
            self.assertEqual(self.path.read_bytes(), content)
            self.assertEqual(self.load(self.path, self.flags), (made, [rate + 1, 2 * rate + 1]))

    def test_PRT_17_the_version_counts(self):
        self.load(self.path, self.flags)
        with mock.patch.object(intarsia.cache._native, "version", "99.0"):
            self.assertEqual(self.load(self.path, self.flags)[0], 1)

    def test_PRT_17_the_build_counts(self):
        self.load(self.path, self.flags)
        with mock.patch.object(intarsia.cache._native, "__file__", str(self.path)):
            self.assertEqual(self.load(self.path, self.flags)[0], 1)
            os.utime(self.path, (1, 1))  # another build of the same size
            self.assertEqual(self.load(self.path, self.flags)[0], 1)

    def test_PRT_17_which_input_an_option_names_counts(self):
        proto = support.model([helper.make_node("Sub", ["x", "y"], ["z"])],
                              {"x": (FLOAT, [2]), "y": (FLOAT, [2])}, {"z": (FLOAT, None)})
        for name, expected in (("x", [2, 1]), ("y", [-2, -1])):
            self.assertEqual(self.made(intarsia.InferenceSession, proto, fixed={name: [3, 3]}),
                             (1, expected))

    def test_PRT_17_the_type_of_an_array_counts(self):
        self.load(self.path, {"dims": {"n": 4}, "fixed": {"offset": np.array(1, np.float32)}})
        bits = np.array(1, np.float32).view(np.int32)
        with self.assertRaisesRegex(intarsia.Error, "offset"):
            self.load(self.path, {"dims": {"n": 4}, "fixed": {"offset": bits}})

    def test_PRT_17_keywords_come_before_flags(self):
        options = {"dims": {"n": 2}, "fixed": {"offset": 5}}
        self.assertEqual(self.load(self.path, self.flags, **options), (1, [7, 9]))

    def test_PRT_17_a_damaged_plan_is_made_anew(self):
        self.load(self.path, self.flags)
        kept, = self.kept.iterdir()
        for damage in (b"", b"no plan", kept.read_bytes()[:-1]):
            kept.write_bytes(damage)
            self.assertEqual(self.load(self.path, self.flags), (1, [3, 5]))
            self.assertEqual(self.load(self.path, self.flags), (0, [3, 5]))

    def test_PRT_17_who_may_read_what_is_kept(self):
        """The folder is its owner's; a plan that is written elsewhere is as readable as any file."""
        umask = os.umask(0o027)
        self.addCleanup(os.umask, umask)
        self.load(self.path, self.flags)
        self.assertEqual(self.kept.stat().st_mode & 0o777, 0o700)
        written = self.folder / "written.plan"
        intarsia.convert(self.path, written, dims={"n": 4}, fixed={"offset": 1})
        self.assertEqual(written.stat().st_mode & 0o777, 0o640)

    def test_PRT_17_a_folder_that_cannot_be_written(self):
        self.kept.write_bytes(b"a file")
        self.assertEqual(self.load(self.path, self.flags)[1], [3, 5])
        self.assertEqual(self.kept.read_bytes(), b"a file")

    def test_PRT_17_no_cache(self):
        with mock.patch.dict(os.environ, INTARSIA_CACHE_DIR=str(self.kept)):
            for cache in (False, None):
                intarsia.compile_and_load(self.path, self.flags, cache=cache)
            self.assertFalse(self.kept.exists())
            intarsia.compile_and_load(self.path, self.flags)
            self.assertEqual(len(list(self.kept.iterdir())), 1)

    def test_PRT_17_what_is_unpickled_keeps_plans_where_the_first_did(self):
        elsewhere = self.folder / "elsewhere"
        with mock.patch.dict(os.environ, INTARSIA_CACHE_DIR=str(elsewhere)):
            for cache in (False, self.kept):
                session = intarsia.compile_and_load(self.path, self.flags, cache=cache)
                self.assertEqual(repr(pickle.loads(pickle.dumps(session))), repr(session))
            self.assertFalse(elsewhere.exists())

    def test_PRT_17_where_plans_are_kept(self):
        names = {name: value for name, value in os.environ.items()
                 if name not in ("INTARSIA_CACHE_DIR", "XDG_CACHE_HOME")}
        for more, expected in (({}, "home/.cache/intarsia"), ({"XDG_CACHE_HOME": "/x"}, "/x/intarsia"),
                               ({"XDG_CACHE_HOME": "/x", "INTARSIA_CACHE_DIR": "/y"}, "/y")):
            with mock.patch.dict(os.environ, {**names, "HOME": "home", **more}, clear=True):
                self.assertEqual(str(intarsia.cache.cache_directory(True)), expected)

    def test_PRT_17_python_operators_are_never_kept(self):
        # What their modules import, nobody knows.
        helper_file, file = self.folder / "prt17_helper.py", self.folder / "prt17_operator.py"
        helper_file.write_text("EXTENT = 2\n", encoding="utf-8")
        file.write_text("domain, inputs, outputs = 'own', ['x'], ['y']\n"
                        "def infer(inputs):\n    return inputs[0]\n"
                        "def forward(inputs):\n    return 5 * inputs[0]\n", encoding="utf-8")
        node = helper.make_node("prt17_operator", ["x"], ["y"], domain="own")
        proto = support.model([node], {"x": (FLOAT, [2])}, {"y": (FLOAT, None)})
        session = intarsia.InferenceSession(proto, operators=file, cache=self.kept)
        np.testing.assert_array_equal(session.run([np.ones(2, np.float32)])[0], [5, 5])
        (self.folder / "prt17_pyop.py").write_text(
            "class Plain:\n    def compute(self, x):\n        return x\n", encoding="utf-8")
        node = helper.make_node("PyOp", ["x"], ["y"], domain="p", module="prt17_pyop",
                                class_name="Plain", input_types=[FLOAT], output_types=[FLOAT])
        proto = support.model([node], {"x": (FLOAT, [2])}, {"y": (FLOAT, [2])})
        intarsia.InferenceSession(proto, allow_pyop=True, pyop_path=self.folder, cache=self.kept)
        self.assertFalse(self.kept.exists())

    def test_PRT_17_wrong_flags(self):
        for flags, reason in (("--dim", "its value is missing"), ("--dim n", "expected NAME=VALUE"),
                              ("--threads two", "invalid literal"), ("--fast", "no flag of a conv"),
                              ("model.plan", "no flag of a conv"), ("--shape x=2y3", "invalid literal")):
            with self.assertRaisesRegex(intarsia.Error, reason):
                self.load(self.path, flags)

    def test_PRT_17_flags_that_are_given_again(self):
        self.assertEqual(options_of("--operators a.so --operators=b.py --pyop-path c --pyop-path d "
                                    "--allow-pyop --max-length l=3 --max-trips m=4 --max-string 5"),
                         {"operators": ["a.so", "b.py"], "pyop_path": ["c", "d"], "allow_pyop": True,
                          "max_lengths": {"l": 3}, "max_trips": {"m": 4}, "max_string": 5})
        # Names may have a '=', values have none, as the command has it.
        self.assertEqual(options_of("--shape a=b=2x3 --gradient c=d=e,f --gradient g"),
                         {"shapes": {"a=b": (2, 3)}, "gradients": {"c=d": ["e", "f"], "g": []}})

    def test_PRT_17_flags_are_those_of_the_command(self):
        flags = ("--dim n=2..4 --fix offset=1.5", "--threads 2 --dim n=4 --fix offset=1",
                 "--shape x=3 --value offset=1", "--strip-names --dim n=4 --fix offset=1 --seed 3",
                 "--target cortex-m --plan-growth 1.5 --dim n=4 --fix offset=1")
        for index, each in enumerate(flags):
            folder = self.folder / str(index)
            intarsia.compile_and_load(self.path, each, cache=folder)
            kept, = folder.iterdir()
            expected = support.convert(model(), *each.split(), path=self.folder / f"{index}.plan")
            self.assertEqual(kept.read_bytes(), expected.read_bytes(), each)


if __name__ == "__main__":
    unittest.main()
