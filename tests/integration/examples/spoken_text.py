# SPDX-License-Identifier: Apache-2.0
"""Phrases, spoken by espeak-ng, as samples of 16 bits at 16000 a second."""
import io
import math
import subprocess
import wave

import numpy as np

RATE = 16000
WINDOW = 32  # samples on each side of a new one


def resample(samples, rate):
    """Another rate to RATE, by windowed sinc functions; frequencies above both halves are removed."""
    places = np.arange(math.floor(len(samples) * RATE / rate)) * rate / RATE
    cut = 0.95 * min(1, RATE / rate)
    nearest = np.floor(places).astype(int)[:, None] + np.arange(1 - WINDOW, WINDOW + 1)
    distance = places[:, None] - nearest
    weights = cut * np.sinc(cut * distance) * (0.5 + 0.5 * np.cos(np.pi * distance / WINDOW))
    padded = np.pad(samples.astype(float), WINDOW)
    return (padded[nearest + WINDOW] * weights).sum(axis=1)


def speak(phrase, voice="en", words_a_minute=150):
    """The samples of a phrase."""
    done = subprocess.run(["espeak-ng", "-v", voice, "-s", str(words_a_minute), "--stdout", phrase],
                          stdout=subprocess.PIPE, check=True)
    with wave.open(io.BytesIO(done.stdout)) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
        samples = np.frombuffer(file.readframes(1 << 30), "<i2")
        return np.clip(resample(samples, file.getframerate()).round(), -32768, 32767).astype("<i2")


def silence(seconds):
    """Samples of silence."""
    return np.zeros(round(seconds * RATE), "<i2")


def write_wav(path, *pieces, rate=RATE, width=2, channel_num=1):
    """A WAV file of pieces of samples."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channel_num)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(b"".join(piece.tobytes() for piece in pieces))
