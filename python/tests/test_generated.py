# SPDX-License-Identifier: Apache-2.0
"""The declarations of the package are those of the headers."""
import os
import re
import subprocess
import sys

from conftest import ROOT

from tengine import _constants
from tengine._library import ffi, lib

HEADERS = sorted((ROOT / "include" / "tengine").glob("*.h"))


def test_files_are_up_to_date():
    """Both files are what the generator writes now."""
    subprocess.run([sys.executable, str(ROOT / "python" / "generate.py"), "--check"], check=True)


def read_headers():
    """All headers without comments, and without the functions that they define."""
    text = "\n".join(header.read_text(encoding="utf-8") for header in HEADERS)
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def test_every_function_is_declared():
    """Each function with TENGINE_API can be called."""
    text = re.sub(r"#define(?:[^\n]*\\\n)*[^\n]*", "", read_headers())
    names = re.findall(r"TENGINE_API [^;{(]*?(\w+)\(", text)
    assert len(names) > 250
    missing = sorted(set(names) - set(dir(lib)))
    assert missing == []


def test_every_structure_has_its_members():
    """Structures that the headers define have members here."""
    names = set(re.findall(r"struct (\w+)\n\{", read_headers()))
    assert len(names) > 20
    empty = [name for name in names if not ffi.typeof(f"struct {name}").fields]
    assert empty == []


def test_sizes_are_those_of_the_compiler(tmp_path):
    """cffi lays structures out as the compiler does."""
    names = sorted(set(re.findall(r"struct (\w+)\n\{", read_headers())))
    includes = "".join(f'#include "tengine/{header.name}"\n' for header in HEADERS)
    lines = "".join(f'printf("{name} %zu\\n", sizeof(struct {name}));\n' for name in names)
    source = tmp_path / "sizes.c"
    source.write_text(f"{includes}#include <stdio.h>\nint main(void)\n{{\n{lines}return 0;\n}}\n",
                      encoding="utf-8")
    program = tmp_path / "sizes"
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, "-I", str(ROOT / "include"), str(source), "-o", str(program)],
                   check=True)
    output = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    sizes = dict(line.split() for line in output.splitlines())
    assert {name: str(ffi.sizeof(f"struct {name}")) for name in names} == sizes


def test_constants_are_the_headers_values():
    """Data types, modes and codes, as the headers' lines have them."""
    text = read_headers()
    found = dict(re.findall(r"#define (TENGINE_(?:DT|MODE)_\w+) (\d+)", text))
    found.update(re.findall(r"X\((TENGINE_E\w+), (-\d+),", text))
    assert len(found) > 45
    assert {name: getattr(_constants, name) for name in found} == {
        name: int(value) for name, value in found.items()}
