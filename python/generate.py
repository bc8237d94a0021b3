#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tengine/_cdef.py and tengine/_constants.py from the public headers.

    python/generate.py           writes both files
    python/generate.py --check   fails when one of them differs from the headers

The C compiler preprocesses the headers (the environment variable CC names another than `cc`), so
that the declarations of the package are those of the headers. cffi makes a module without a parser
from them, which is read in milliseconds and fits every processor: it has no sizes and offsets.
"""
import ast
import contextlib
import os
import pathlib
import pprint
import re
import subprocess
import sys
import tempfile

import cffi

PACKAGE = pathlib.Path(__file__).resolve().parent / "tengine"
INCLUDE = PACKAGE.parent.parent / "include"
LICENCE = "# SPDX-License-Identifier: Apache-2.0\n"
GENERATED = "# Generated from the public headers by python/generate.py.\n"


def list_headers():
    """The headers in C, without those of the compatible programming interfaces in folders."""
    return sorted((INCLUDE / "tengine").glob("*.h"))


def preprocess(*arguments):
    """The headers' text after the preprocessor."""
    lines = "".join(f'#include "tengine/{header.name}"\n' for header in list_headers())
    command = [os.environ.get("CC", "cc"), "-E", "-I", str(INCLUDE), *arguments, "-x", "c", "-"]
    return subprocess.run(command, input=lines, text=True, check=True, capture_output=True).stdout


def keep_own_lines(text):
    """The lines that come from the project's headers and not from the system's."""
    kept = []
    own = False
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            own = marker[1].startswith(str(INCLUDE))
        elif own and line.strip():
            kept.append(line)
    return "\n".join(kept)


def remove_parentheses(text, word):
    """The text without each `word` and the parentheses that follow it."""
    result = []
    while word in text:
        before, text = text.split(word, 1)
        result.append(before)
        depth = 0
        for index, letter in enumerate(text):
            depth += (letter == "(") - (letter == ")")
            if depth == 0 and letter == ")":
                text = text[index + 1:]
                break
    return "".join(result) + text


def remove_bodies(text):
    """The text without the functions that are defined in a header."""
    result = []
    while True:
        match = re.search(r"static inline[^{;]*\{", text)
        if not match:
            return "".join(result) + text
        result.append(text[:match.start()])
        depth = 1
        index = match.end()
        while depth:
            depth += (text[index] == "{") - (text[index] == "}")
            index += 1
        text = text[index:]


def read_declarations():
    """The declarations of all headers, as cffi takes them."""
    text = keep_own_lines(preprocess())
    text = remove_bodies(remove_parentheses(text, "__attribute__"))
    text = re.sub(r"\b__extension__\b", "", text)
    return re.sub(r"[ \t]+", " ", text)


def read_macros():
    """The values of macros that are integers, by name."""
    own = set()
    for header in list_headers():
        own |= set(re.findall(r"^#define (\w+) ", header.read_text(encoding="utf-8"), re.MULTILINE))
    macros = {}
    for name, value in re.findall(r"^#define (\w+) (.*)$", preprocess("-dM"), re.MULTILINE):
        value = value.strip().rstrip("uU")
        if name in own and re.fullmatch(r"\(?-?(0x[0-9a-fA-F]+|\d+)\)?", value):
            macros[name] = ast.literal_eval(value)
    return macros


def read_enumerators(ffi, declarations):
    """The values of all enumerators, by name."""
    values = {}
    for name in re.findall(r"\benum (\w+)\s*\{", declarations):
        values.update(ffi.typeof(f"enum {name}").relements)
    return values


def emit_module(ffi):
    """cffi's module of the declarations, in short lines."""
    ffi.set_source("tengine._cdef", None)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(None):
        path = pathlib.Path(folder) / "module.py"
        ffi.emit_python_code(str(path))
        call = ast.parse(path.read_text(encoding="utf-8")).body[-1].value
    arguments = [repr(ast.literal_eval(argument)) for argument in call.args]
    for keyword in call.keywords:
        value = pprint.pformat(ast.literal_eval(keyword.value), width=96, compact=True)
        arguments.append(f"{keyword.arg}={value}")
    return "import _cffi_backend\n\nffi = _cffi_backend.FFI(\n" + ",\n".join(arguments) + ")\n"


def generate():
    """The content of both files, by path."""
    declarations = read_declarations()
    ffi = cffi.FFI()
    ffi.cdef(declarations)
    constants = {**read_macros(), **read_enumerators(ffi, declarations)}
    lines = "".join(f"{name} = {value}\n" for name, value in sorted(constants.items()))
    return {PACKAGE / "_cdef.py": LICENCE + GENERATED + emit_module(ffi),
            PACKAGE / "_constants.py": LICENCE + GENERATED + lines}


def main():
    """The program."""
    stale = 0
    for path, content in generate().items():
        if "--check" not in sys.argv[1:]:
            path.write_text(content, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != content:
            print(f"{path}: differs from the headers; python/generate.py writes it", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
