# SPDX-License-Identifier: Apache-2.0
"""Plans of several models: an encoder and the step of its decoder, joined, beside ONNX Runtime."""

import unittest

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

import intarsia
import support

FLOAT = support.FLOAT
INT64 = support.TensorProto.INT64
WORDS, WIDTH, STEPS = 11, 8, 9


def weights():
    """Chosen so that decoding wanders through the words: another kernel gives another text."""
    random = np.random.default_rng(5)
    shapes = {"words": (WORDS, WIDTH), "key": (WIDTH, WIDTH), "mix": (WIDTH, WIDTH)}
    return {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def tensors(*names):
    return [numpy_helper.from_array(weights()[name], name) for name in names]


def encoder():
    """text [n] -> memory [n,WIDTH]; its words are those of the decoder."""
    nodes = [helper.make_node("Gather", ["words", "text"], ["e"]),
             helper.make_node("MatMul", ["e", "key"], ["k"]),
             helper.make_node("Tanh", ["k"], ["memory"])]
    return support.model(nodes, {"text": (INT64, ["n"])}, {"memory": (FLOAT, ["n", WIDTH])},
                         tensors("words", "key"))


def decoder():
    """One step: attends to the memory, mixes what it finds into its state, says the next word."""
    nodes = [helper.make_node("Gather", ["words", "word"], ["e"]),
             helper.make_node("Add", ["e", "hidden"], ["query"]),
             helper.make_node("Transpose", ["memory"], ["columns"], perm=[1, 0]),
             helper.make_node("MatMul", ["query", "columns"], ["scores"]),
             helper.make_node("Softmax", ["scores"], ["share"]),
             helper.make_node("MatMul", ["share", "memory"], ["found"]),
             helper.make_node("MatMul", ["found", "mix"], ["mixed"]),
             helper.make_node("Add", ["mixed", "query"], ["sum"]),
             helper.make_node("Sin", ["sum"], ["hidden_next"]),
             helper.make_node("Transpose", ["words"], ["table"], perm=[1, 0]),
             helper.make_node("MatMul", ["hidden_next", "table"], ["logits"])]
    return support.model(
        nodes,
        {"word": (INT64, [1]), "memory": (FLOAT, ["n", WIDTH]), "hidden": (FLOAT, [1, WIDTH])},
        {"logits": (FLOAT, [1, WORDS]), "hidden_next": (FLOAT, [1, WIDTH])},
        tensors("words", "mix"))


def spoken_by_onnx_runtime(text):
    sessions = [onnxruntime.InferenceSession(proto.SerializeToString())
                for proto in (encoder(), decoder())]
    memory, = sessions[0].run(None, {"text": text})
    hidden, word = np.zeros((1, WIDTH), np.float32), np.array([0])
    spoken, logits = [], []
    for _ in range(STEPS):
        found, hidden = sessions[1].run(
            None, {"word": word, "memory": memory, "hidden": hidden})
        word = found.argmax(1)
        spoken.append(int(word[0]))
        logits.append(found)
    return spoken, logits


class Entries(unittest.TestCase):
    def setUp(self):
        self.plan = support.FOLDER / "joined.plan"
        # The encoder's result becomes what the decoder reads, without passing through here.
        intarsia.convert({"encode": encoder(), "step": decoder()}, self.plan, dims={"n": 16},
                         states={"encode:memory": "step:memory", "step:hidden_next": "step:hidden"})

    def test_a_decoder_reads_what_the_encoder_has_left(self):
        session = intarsia.ExecutionSession(self.plan)
        self.assertEqual(session.entry_points(), ["encode", "step"])
        self.assertEqual({info.name for info in session.states}, {"memory", "hidden"})
        texts = [[3, 1, 4, 1, 5, 9, 2, 6], [7], [10, 0, 8, 2, 2, 5, 6, 1, 9, 4, 3, 7]]
        spoken = set()
        for text in texts:
            text = np.array(text)
            expected, logits = spoken_by_onnx_runtime(text)
            session.reset_states()
            session.run([text], entry="encode")
            word, found = np.array([0]), []
            for step in range(STEPS):
                result, = session.run([word], entry="step")
                np.testing.assert_allclose(result, logits[step], rtol=1e-4, atol=1e-5)
                word = result.argmax(1)
                found.append(int(word[0]))
            self.assertEqual(found, expected)
            spoken.add(tuple(found))
        self.assertEqual(len(spoken), len(texts))

    def test_entry_points_by_name(self):
        session = intarsia.ExecutionSession(self.plan)
        session.set_entry_point("step")
        self.assertEqual([info.name for info in session.inputs], ["word"])
        self.assertEqual([each.name for each in session.get_inputs()], ["word"])
        self.assertEqual([each.name for each in session.get_outputs()], ["logits"])
        self.assertEqual(session.input_signature(),
                         '[    { "type" : "i64" , "dims" : [1] , "name" : "word" }\n\n]')
        self.assertEqual(session.output_signature(),
                         f'[   {{ "type" : "f32" , "dims" : [1 , {WORDS}] , "name" : "logits" }}\n\n]')
        self.assertEqual(session.run([np.array([0])])[0].shape, (1, WORDS))
        with self.assertRaisesRegex(intarsia.Error, "no entry point 'speak'"):
            session.run([np.array([0])], entry="speak")
        self.assertEqual([info.name for info in session.inputs], ["word"])

    def test_dimensions_are_those_of_all_entry_points(self):
        def model(symbol):
            return support.model([helper.make_node("Neg", ["x"], ["y"])], {"x": (FLOAT, [symbol])},
                                 {"y": (FLOAT, [symbol])})
        plan = intarsia.convert({"first": model("n"), "second": model("m")}, dims={"n": (1, 3), "m": (2, 5)})
        self.assertEqual(intarsia.ExecutionSession(plan).dimensions,
                         {"first:n": (1, 3), "second:m": (2, 5)})

    def test_the_plan_of_the_command(self):
        paths = []
        for name, proto in (("encode", encoder()), ("step", decoder())):
            paths += ["--entry", f"{name}={support.FOLDER / name}.onnx"]
            support.onnx.save(proto, paths[-1].split("=", 1)[1])
        plan = support.FOLDER / "command.plan"
        done = support.subprocess.run(
            [support.COMMAND, "convert", *paths, "-o", plan, "--dim", "n=16", "--state",
             "encode:memory=step:memory", "--state", "step:hidden_next=step:hidden"],
            capture_output=True, text=True, env=support.plain_environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(plan.read_bytes(), self.plan.read_bytes())
        # The words' table is in both models.
        self.assertLess(plan.stat().st_size, 16 * 1024)
        for name, code, text in (("step", 0, '"runs"'),
                                 ("speak", 1, "no entry point 'speak'; it has encode, step")):
            done = support.subprocess.run(
                [support.COMMAND, "bench", plan, "--entry", name, "--seconds", "0", "--json"],
                capture_output=True, text=True, env=support.plain_environment())
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stdout + done.stderr)

    def test_problems_name_the_entry_point(self):
        with self.assertRaisesRegex(intarsia.Error, "entry point 'encode': .*add --dim n=MAX"):
            intarsia.convert({"encode": encoder(), "step": decoder()}, self.plan)
        with self.assertRaisesRegex(ValueError, "no model"):
            intarsia.convert({}, self.plan)


if __name__ == "__main__":
    unittest.main()
