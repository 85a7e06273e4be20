# SPDX-License-Identifier: Apache-2.0
"""Writes ONNX's node cases as folders. Usage: make_cases.py FOLDER

The package onnx holds these cases as functions, not as files. FOLDER/node/test_abs and so on get
model.onnx and test_data_set_0; FOLDER/stamp holds the versions that made them, and nothing is done
where it is right. Run it with CACHE/venv/bin/python.
"""

import json
import pathlib
import shutil
import sys
import warnings

import numpy
import onnx
from onnx import TensorProto, numpy_helper

# Where what is expected is further from the result in double precision than the tool's: NumPy's float32
# transform gives 1.9e-7 for 0, and float16 is rounded at every step (mean error 9.0e-5, the tool's 7.6e-5).
TOLERANCES = {
    "test_attention_4d_causal_fp16_expanded": {"rtol": 2**-9},
    "test_dft_inverse": {"atol": 1e-6},
    "test_dft_inverse_opset19": {"atol": 1e-6},
}
STAMP = f"onnx {onnx.__version__}, numpy {numpy.__version__}, {json.dumps(TOLERANCES)}\n"
WRITERS = {
    "sequence_type": numpy_helper.from_list,
    "map_type": numpy_helper.from_dict,
    "optional_type": numpy_helper.from_optional,
}


def message(value, info):
    if isinstance(value, TensorProto):
        return value
    return WRITERS.get(info.type.WhichOneof("value"), numpy_helper.from_array)(value, info.name)


def write(folder, case):
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    if case.name in TOLERANCES:
        (folder / "tolerance.json").write_text(json.dumps(TOLERANCES[case.name]))
    for number, data in enumerate(case.data_sets):
        data_set = folder / f"test_data_set_{number}"
        data_set.mkdir()
        for kind, values, infos in zip(("input", "output"), data,
                                       (case.model.graph.input, case.model.graph.output)):
            for i, value in enumerate(values):
                data_set.joinpath(f"{kind}_{i}.pb").write_bytes(
                    message(value, infos[i]).SerializeToString())


def main():
    folder = pathlib.Path(sys.argv[1])
    stamp = folder / "stamp"
    if stamp.exists() and stamp.read_text() == STAMP:
        return
    shutil.rmtree(folder, ignore_errors=True)
    warnings.simplefilter("ignore")  # the cases compute infinities on purpose
    numpy.random.seed(1)  # some cases draw numbers when their module is loaded
    from onnx.backend.test.case.node import collect_testcases

    cases = collect_testcases(None)
    for case in cases:
        write(folder / "node" / case.name, case)
    stamp.write_text(STAMP)
    print(f"make_cases: {len(cases)} cases in {folder}")


main()
