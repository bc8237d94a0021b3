# SPDX-License-Identifier: Apache-2.0
"""Listens for "hey jarvis" in a WAV file, or in samples from a microphone, with the three networks of
openWakeWord (docs/wake_word.md):

    python3 wake_word.py ~/.cache/tengine/networks/wake_word SPEECH.wav
    arecord -t raw -f S16_LE -r 16000 | python3 wake_word.py ~/.cache/tengine/networks/wake_word -

It prints the time, in seconds, and the probability whenever the word is spoken.
examples/wake_word is the same program in C.
"""
import argparse
import pathlib
import sys
import wave

import numpy as np

import tengine

RATE = 16000       # samples a second
CHUNK = 1280       # samples of a step: 80 ms
OVERLAP = 480      # samples before a chunk: windows of the spectrogram reach back
PAUSE = 25         # chunks after a word in which it is not printed again
TAIL = 12          # chunks of silence after the end: the answer may be a second late


def shift_in(past, values):
    """Appends values to an array, whose first ones are dropped."""
    past[:-len(values)] = past[len(values):]
    past[-len(values):] = values


class Listener:
    """Three networks in a stream: the input of each keeps the past that it needs."""

    def __init__(self, folder, word=None, precision="fp32"):
        folder = pathlib.Path(folder)
        self.spectrogram = tengine.Session(folder / "melspectrogram.onnx")  # in fp32: see the page
        self.embedding = tengine.Session(folder / "embedding_model.onnx", precision=precision)
        self.word = tengine.Session(word or folder / "hey_jarvis_v0.1.onnx", precision=precision)
        self.samples = np.zeros(OVERLAP + CHUNK, np.float32)
        self.frames = np.ones((76, 32), np.float32)  # as openWakeWord begins
        self.embeddings = np.zeros(self.word.inputs[0].shape[1:], np.float32)

    def hear(self, samples):
        """The probability that the word ends about here, after CHUNK more samples."""
        shift_in(self.samples, samples)
        decibels = self.spectrogram(self.samples[None])
        shift_in(self.frames, decibels.reshape(-1, 32) / 10 + 2)
        shift_in(self.embeddings, self.embedding(self.frames[None, ..., None]).reshape(1, -1))
        return float(self.word(self.embeddings[None])[0, 0])


def read_stream(file):
    """Chunks of 16-bit samples of one channel; silence fills the last one."""
    while True:
        data = file.read(2 * CHUNK)
        chunk = np.zeros(CHUNK, np.float32)
        samples = np.frombuffer(data[:len(data) // 2 * 2], "<i2")
        chunk[:len(samples)] = samples
        yield chunk
        if len(samples) < CHUNK:
            return


def read_wav(path):
    """Chunks of the average of the channels; silence fills the last one."""
    with wave.open(path) as file:
        if (file.getsampwidth(), file.getframerate()) != (2, RATE):
            sys.exit(f"wake_word: {path}: {8 * file.getsampwidth()} bits and {file.getframerate()} "
                     f"samples a second, expected 16 and {RATE}")
        while True:
            data = np.frombuffer(file.readframes(CHUNK), "<i2").reshape(-1, file.getnchannels())
            chunk = np.zeros(CHUNK, np.float32)
            chunk[:len(data)] = data.mean(axis=1)
            yield chunk
            if len(data) < CHUNK:
                return


def chunks_of(audio):
    """Chunks of a file or of standard input, and silence."""
    yield from read_stream(sys.stdin.buffer) if audio == "-" else read_wav(audio)
    for _ in range(TAIL):
        yield np.zeros(CHUNK, np.float32)


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", help="folder of openWakeWord's files")
    parser.add_argument("audio", help="WAV file, or - for samples of standard input")
    parser.add_argument("-w", metavar="MODEL", help="the network for another word")
    parser.add_argument("-l", metavar="LEVEL", type=float, default=0.5,
                        help="the probability from which on the word is spoken")
    parser.add_argument("-a", action="store_true", help="print the probability of every 80 ms")
    parser.add_argument("-p", metavar="PRECISION", default="fp32")
    options = parser.parse_args()
    listener = Listener(options.networks, options.w, options.p)
    pause = 0
    for number, chunk in enumerate(chunks_of(options.audio), 1):
        probability = listener.hear(chunk)
        is_word = probability >= options.l and pause == 0
        pause = PAUSE if is_word else max(0, pause - 1)
        if is_word or options.a:
            print(f"{number * CHUNK / RATE:.2f} {probability:.3f}", flush=True)


if __name__ == "__main__":
    main()
