# SPDX-License-Identifier: Apache-2.0
"""The wheel: its content and tag, and a program in an environment with nothing else of tengine."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from conftest import ROOT

from tengine._library import library_path

# The libraries of every Linux system with the glibc of the tag.
SYSTEM = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this build."""
    absent = [name for name in ("build", "wheel", "setuptools")
              if importlib.util.find_spec(name) is None]
    absent += [name for name in ("patchelf", "readelf", "objdump", "strip")
               if shutil.which(name) is None]
    if absent:
        pytest.skip(f"no {', '.join(absent)} (Debian: python3-build python3-wheel "
                    "python3-setuptools patchelf)")
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, str(ROOT / "python" / "build_wheel.py"), library_path,
                    str(folder / "work"), str(folder / "out")], check=True)
    found, = (folder / "out").glob("*.whl")
    return found


def run(*command):
    """The output of a program."""
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          text=True).stdout


def test_content(wheel):
    """The package and the library, nothing of the tests; small without the library."""
    with zipfile.ZipFile(wheel) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
        compressed = {info.filename: info.compress_size for info in archive.infolist()}
        metadata = archive.read("tengine-2.0.0.dist-info/METADATA").decode()
        licence = archive.read("tengine-2.0.0.dist-info/LICENSE").decode()
    assert licence == (ROOT / "LICENSE").read_text(encoding="utf-8")
    package = {path.name for path in (ROOT / "python" / "tengine").iterdir()
               if path.suffix in (".py", ".pyi", ".typed")}
    assert package <= {pathlib.PurePath(name).name for name in sizes}
    assert sum(size for name, size in compressed.items() if ".so" not in name) < 150_000
    assert not [name for name in sizes if "test" in name or "generate" in name]
    assert "Requires-Dist: numpy" in metadata and "Requires-Dist: cffi" in metadata
    version = re.search(r"project\(tengine VERSION (\S+)",
                        (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
    assert f"Version: {version}\n" in metadata


def test_libraries_and_tag(wheel, tmp_path):
    """No library is needed but those of the system and those inside, and the tag has their glibc."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    libraries = list((tmp_path / "tengine").glob("*.so*"))
    inside = {library.name for library in libraries}
    newest = (0, 0)
    for library in libraries:
        dynamic = run("readelf", "-d", library)
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
        assert {name for name in needed if not name.startswith("ld-linux")} <= SYSTEM | inside
        assert re.findall(r"R(?:UN)?PATH.*\[(.*)\]", dynamic) in ([], ["$ORIGIN"])
        versions = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", run("readelf", "-V", library))
        newest = max(newest, *((int(major), int(minor)) for major, minor in versions))
    tag = re.search(r"-py3-none-manylinux_(\d+)_(\d+)_\w+\.whl$", wheel.name)
    assert (int(tag[1]), int(tag[2])) == newest


def read_program():
    """The program in Python of the front page."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]


def test_empty_environment(wheel, tmp_path):
    """pip installs the wheel, and the program of the front page runs."""
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("pip") is None:
        pytest.skip("no pip (Debian: python3-venv python3-pip)")
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("TENGINE_LIBRARY", "PYTHONPATH", "LD_LIBRARY_PATH")}
    # numpy and cffi are those of the system: there is no network.
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", str(tmp_path / "venv")],
                   check=True, env=environment)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([str(python), "-m", "pip", "install", "--no-index", "--quiet", str(wheel)],
                   check=True, env=environment)
    program = read_program() + "\nimport tengine._library\nprint(tengine._library.library_path)\n"
    output = subprocess.run([str(python), "-c", program], check=True, env=environment, cwd=ROOT,
                            capture_output=True, text=True).stdout
    assert output.splitlines()[-1].startswith(str(tmp_path / "venv"))


def test_without_a_library(tmp_path):
    """The import says which file is missing, and which variable may name it."""
    shutil.copytree(ROOT / "python" / "tengine", tmp_path / "tengine",
                    ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path),
                   "TENGINE_LIBRARY": str(tmp_path / "absent.so")}
    done = subprocess.run([sys.executable, "-c", "import tengine"], env=environment, check=False,
                          capture_output=True, text=True)
    assert done.returncode == 1
    assert "absent.so" in done.stderr and "TENGINE_LIBRARY" in done.stderr


def test_library_of_another_version(tmp_path):
    """A library of another major version is refused with both versions."""
    source = tmp_path / "old.c"
    source.write_text('const char* get_tengine_version(void) { return "1.6-lite"; }\n',
                      encoding="utf-8")
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, "-shared", "-fPIC", str(source), "-o", str(tmp_path / "old.so")],
                   check=True)
    environment = {**os.environ, "TENGINE_LIBRARY": str(tmp_path / "old.so")}
    done = subprocess.run([sys.executable, "-c", "import tengine"], env=environment, check=False,
                          capture_output=True, text=True)
    assert "version 1.6-lite, expected 2.x" in done.stderr
