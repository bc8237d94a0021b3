# SPDX-License-Identifier: Apache-2.0
"""examples/wake_word and examples/python/wake_word.py on phrases that espeak-ng speaks."""
import shutil
import struct
import subprocess

import numpy as np
import pytest
from conftest import (NETWORKS, PROGRAMS, needs_package, only_unsanitized, refuses, run, run_page,
                      run_python)
from spoken_text import RATE, silence, speak, write_wav

VOICES = ("en", "en-us", "en-gb-scotland", "en-gb-x-rp", "en+m7", "en-us+f3")
OTHERS = ("what is the weather today", "turn on the light", "hey mycroft", "play some music, please",
          "he cannot hear us", "set a timer for ten minutes")


@pytest.fixture(scope="module")
def talk(tmp_path_factory):
    """A WAV file in which the word is spoken twice between other phrases, and where it ends."""
    word, other = speak("hey jarvis"), speak(OTHERS[0])
    pieces = [silence(1), other, silence(1), word, silence(2.5), other, silence(0.5), word]
    path = tmp_path_factory.mktemp("talk") / "speech.wav"
    write_wav(path, *pieces)
    return path, [sum(map(len, pieces[:end])) / RATE for end in (4, 8)]


def parse(output):
    """Times and probabilities of a program's output."""
    return [tuple(map(float, line.split())) for line in output.splitlines()]


@pytest.mark.parametrize("voice", VOICES)
def test_voices(tmp_path, voice):
    """The word is heard once, in every voice."""
    word = speak("hey jarvis", voice)
    write_wav(tmp_path / "word.wav", silence(1), word, silence(0.5))
    (time, probability), = parse(run("wake_word", NETWORKS, tmp_path / "word.wav"))
    assert probability >= 0.5
    assert 0 < time - 1 < len(word) / RATE + 1


@pytest.mark.parametrize("phrase", OTHERS)
def test_others(tmp_path, phrase):
    """Other phrases stay silent, in two voices."""
    write_wav(tmp_path / "others.wav", silence(0.5), speak(phrase, "en"), silence(0.5),
              speak(phrase, "en-us"))
    assert run("wake_word", NETWORKS, tmp_path / "others.wav") == ""


def test_times(talk):
    """In a stream the word is heard where it ends."""
    path, ends = talk
    found = parse(run("wake_word", NETWORKS, path))
    assert len(found) == len(ends)
    assert all(-0.4 < time - end < 1 for (time, _), end in zip(found, ends)), (found, ends)


def test_all(talk):
    """With -a there is a line for each 80 ms, and the largest are those that -l selects."""
    path, _ = talk
    found = parse(run("wake_word", "-a", NETWORKS, path))
    assert [time for time, _ in found] == [round(0.08 * i, 2) for i in range(1, len(found) + 1)]
    largest = max(probability for _, probability in found)
    assert parse(run("wake_word", "-l", largest - 0.001, NETWORKS, path))
    assert run("wake_word", "-l", min(1, largest + 0.001), NETWORKS, path) == ""


@only_unsanitized
@needs_package
def test_python(talk):
    """The program in Python hears the same, from a file and from a pipe."""
    path, _ = talk
    expected = run("wake_word", "-a", NETWORKS, path)
    assert run_python("wake_word", "-a", NETWORKS, path) == expected
    samples = path.read_bytes()[44:]
    assert run_python("wake_word", "-a", NETWORKS, "-", input=samples) == expected


def test_pipe(talk):
    """A pipe gives the lines of a file: with and without a header, in pieces of any size."""
    path, _ = talk
    expected = run("wake_word", "-a", NETWORKS, path)
    data = path.read_bytes()
    endless = data[:4] + b"\xff" * 4 + data[8:40] + b"\xff" * 4 + data[44:]
    for stream in (data, endless, data[44:]):
        assert run("wake_word", "-a", NETWORKS, "-", input=stream) == expected
    with subprocess.Popen([str(PROGRAMS / "wake_word"), "-a", NETWORKS, "-"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        lines = []
        # Each chunk is answered before the next one comes.
        for begin in range(44, 44 + 5 * 2560, 2560):
            for piece in (data[begin:begin + 7], data[begin + 7:begin + 2560]):
                process.stdin.write(piece)
                process.stdin.flush()
            lines.append(process.stdout.readline().decode())
        process.stdin.close()
        lines += process.stdout.read().decode().splitlines(keepends=True)
    assert "".join(lines).startswith("".join(expected.splitlines(keepends=True)[:5]))


def test_channels(talk, tmp_path):
    """Channels are averaged; a header may have other chunks and the extensible format."""
    path, _ = talk
    expected = run("wake_word", NETWORKS, path)
    data = path.read_bytes()
    samples = np.frombuffer(data[44:], "<i2")
    write_wav(tmp_path / "stereo.wav", np.repeat(samples, 2), channel_num=2)
    assert run("wake_word", NETWORKS, tmp_path / "stereo.wav") == expected
    extensible = struct.pack("<HHIIHHHHI", 0xfffe, 1, RATE, 2 * RATE, 2, 16, 22, 16, 4) + \
        bytes.fromhex("0100000000001000800000aa00389b71")
    header = (data[:12] + b"LIST\x03\0\0\0abc\0" + b"fmt " + struct.pack("<I", len(extensible)) +
              extensible)
    (tmp_path / "other.wav").write_bytes(header + data[36:])
    assert run("wake_word", NETWORKS, tmp_path / "other.wav") == expected


@only_unsanitized
@pytest.mark.parametrize("options", [("-p", "bf16"), ("-p", "fp16"), ("-t", "2"), ("-d", "CPU")])
def test_precisions(talk, options):
    """Other precisions, threads and an explicit device hear it at the same times."""
    path, _ = talk
    times = [time for time, _ in parse(run("wake_word", *options, NETWORKS, path))]
    assert times == [time for time, _ in parse(run("wake_word", NETWORKS, path))]


def test_nothing(tmp_path):
    """No samples, and a few, are silence."""
    write_wav(tmp_path / "empty.wav")
    write_wav(tmp_path / "short.wav", silence(0.001))
    assert run("wake_word", NETWORKS, tmp_path / "empty.wav") == ""
    assert run("wake_word", NETWORKS, tmp_path / "short.wav") == ""
    assert run("wake_word", NETWORKS, "-", input=b"") == ""
    assert run("wake_word", NETWORKS, "-", input=b"R") == ""


@pytest.mark.parametrize("arguments, message", [
    ([], "wake_word: 0 arguments, expected NETWORKS and AUDIO"),
    (["-x", "a", "b"], "wake_word: option -x: unknown"),
    (["-l"], "wake_word: option -l: unknown, or without its value"),
    (["-l", "0", "a", "b"], "wake_word: -l 0: expected a probability above 0, at most 1"),
    (["-l", "1.5", "a", "b"], "-l 1.5: expected"),
    (["-l", "nan", "a", "b"], "-l nan: expected"),
    (["-l", "half", "a", "b"], "-l half: expected"),
    (["-p", "int4", "a", "b"], "-p int4: expected"),
    (["absent", "TALK"], "absent/melspectrogram.onnx"),
    ([NETWORKS, "absent.wav"], "wake_word: absent.wav: cannot read: No such file"),
    ([NETWORKS, "/"], "wake_word: /: "),
    ([NETWORKS, __file__], "test_wake_word.py: not a WAV file"),
    (["-w", "absent.onnx", NETWORKS, "TALK"], "absent.onnx"),
    (["-w", f"{NETWORKS}/melspectrogram.onnx", NETWORKS, "TALK"],
     "expected an input of 1 x embeddings x 96"),
])
def test_misuse(talk, arguments, message):
    """Each fault ends the program with a line that names it."""
    arguments = [str(talk[0]) if word == "TALK" else word for word in arguments]
    assert message in refuses("wake_word", *arguments)


def test_faulty_files(tmp_path):
    """Formats that are not read, with their values, and files that end early."""
    path = tmp_path / "faulty.wav"

    def message_for(data):
        path.write_bytes(data)
        return refuses("wake_word", NETWORKS, path)

    write_wav(path, silence(0.2), rate=44100)
    assert "faulty.wav: 44100 samples a second, expected 16000" in \
        refuses("wake_word", NETWORKS, path)
    write_wav(path, silence(0.2), width=1)
    assert "format 1 with 8 bits, expected PCM (1) with 16 bits" in \
        refuses("wake_word", NETWORKS, path)
    write_wav(path, silence(0.2), channel_num=9)
    assert "9 channels, expected 1 to 8" in refuses("wake_word", NETWORKS, path)
    write_wav(path, silence(0.2))
    good = path.read_bytes()
    for size in (0, 3):
        assert "not a WAV file" in message_for(good[:size])
    for size in (4, 11, 13, 30, 43):
        assert "ends within the header" in message_for(good[:size])
    assert "ends early: 6358 bytes" in message_for(good[:44 + 42])
    assert "not a WAV file" in message_for(b"RIFF\0\0\0\0AVI " + good[12:])
    assert "format 3 with 16 bits" in message_for(good[:20] + b"\3" + good[21:])
    assert "a format of 14 bytes, expected at least 16" in \
        message_for(good[:16] + b"\x0e" + good[17:])
    assert "0 channels" in message_for(good[:22] + b"\0" + good[23:])
    assert "samples without a format" in message_for(good[:12] + good[36:])
    assert "ends within the header" in message_for(good[:12] + b"LIST\xff\xff\xff\xff" + good[12:])


def test_help():
    """The help names all options."""
    text = run("wake_word", "-h")
    assert all(f"\n  -{letter} " in text for letter in "wlaptdh")


@only_unsanitized
@needs_package
def test_page(talk, tmp_path):
    """The commands of docs/wake_word.md."""
    shutil.copy(talk[0], tmp_path / "speech.wav")
    run_page("docs/wake_word.md", tmp_path)
