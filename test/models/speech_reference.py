# SPDX-License-Identifier: Apache-2.0
"""Speech probabilities of alsa-utils' recordings. Usage: speech_reference.py [--cache DIR] [OUT]

For every WAV file of /usr/share/sounds/alsa writes into OUT (default CACHE/speech):

    <name>_16k.npy   the signal at 16 kHz, float32; the resampling is specified in audio.py
    <name>.npy       one speech probability per frame, float32, from ONNX Runtime

The official usage of silero_vad.onnx: frames of 512 samples, the last one filled with zeros, each
preceded by the last 64 samples of the frame before (zeros for the first); sr = 16000; the state
starts at zero and carries over. Prints the segments of speech, see segments().
"""

import argparse
import os
import pathlib
import sys

import cases

SOUNDS = pathlib.Path("/usr/share/sounds/alsa")
RATE, FRAME, CONTEXT = 16000, 512, 64


def segments(probabilities, length, threshold=0.5, leave=0.35, silence=1600, shortest=4000):
    """Segments as pairs of sample numbers, by the rule of silero_vad's get_speech_timestamps.

    A signal of `length` samples gave these probabilities.
    A segment starts at a frame whose probability reaches `threshold`. It ends where the
    probability falls below `leave`, unless it reaches `threshold` again before a later frame below
    `leave` lies `silence` samples (100 ms) or more behind. Segments that are not longer than
    `shortest` samples (250 ms) are dropped. (The package also widens each by 30 ms.)
    """
    found, start, end = [], None, None
    for frame, probability in enumerate(probabilities):
        position = frame * FRAME
        if probability >= threshold:
            start = position if start is None else start
            end = None
        elif probability < leave and start is not None:
            end = position if end is None else end
            if position - end >= silence:
                found.append((start, end))
                start = end = None
    if start is not None:
        found.append((start, length))
    return [pair for pair in found if pair[1] - pair[0] > shortest]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cache = os.environ.get("INTARSIA_CACHE", str(cases.HERE.parents[1] / "build" / "cache"))
    parser.add_argument("--cache", default=cache, help="folder that setup_env.sh filled")
    parser.add_argument("out", nargs="?", help="default CACHE/speech")
    arguments = parser.parse_args()
    cache = pathlib.Path(arguments.cache)
    out = pathlib.Path(arguments.out or cache / "speech")
    key = cases.source_key()
    stamp = out / "stamp"
    if stamp.exists() and stamp.read_text() == key:
        print((out / "report.txt").read_text(), end="")
        return

    import audio
    import numpy

    model = cache / "packages" / "silero_vad" / "data" / "silero_vad.onnx"
    if not model.exists():
        sys.exit(f"speech_reference: {model} is missing; run test/models/setup_env.sh first")
    runtime = cases.session(str(model))
    out.mkdir(parents=True, exist_ok=True)
    report = []
    for path in sorted(SOUNDS.glob("*.wav")):
        signal = audio.resample(*audio.read_wav(path), RATE)
        state = numpy.zeros((2, 1, 128), numpy.float32)
        probabilities = []
        for frame in audio.frames(signal, FRAME, CONTEXT):
            output, state = runtime.run(
                ["output", "stateN"],
                {"input": frame, "state": state, "sr": numpy.array(RATE, numpy.int64)})
            probabilities.append(output[0, 0])
        numpy.save(out / f"{path.stem}_16k.npy", signal)
        numpy.save(out / f"{path.stem}.npy", numpy.array(probabilities, numpy.float32))
        spans = ", ".join(f"{begin / RATE:.3f}-{end / RATE:.3f} s"
                          for begin, end in segments(probabilities, len(signal)))
        report.append(f"{path.name}: {len(probabilities)} frames, highest probability "
                      f"{max(probabilities):.4f}, speech: {spans or 'none'}\n")
    if len(report) != 9:
        sys.exit(f"speech_reference: {len(report)} WAV files in {SOUNDS}, expected the 9 of "
                 "alsa-utils")
    (out / "report.txt").write_text("".join(report))
    stamp.write_text(key)
    print("".join(report), end="")


if __name__ == "__main__":
    main()
