#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a wheel of the package with the library inside, as `cmake --build <folder> --target
python_wheel` calls it:

    python/build_wheel.py <libtengine.so> <work folder> <folder of the wheel>

Libraries that other Linux systems may lack (protobuf-lite, Highway) are copied, with names of their
own, so that they are not mistaken for those of another package. The tag has the oldest version of
glibc with which all of them load. It needs patchelf, binutils, and Python's build and wheel.
"""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent

# The libraries of every system with that glibc, by the policy of manylinux.
SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+))\.so\.\d+")


def run(*command, **options):
    """The output of a program, whose failure ends this one."""
    return subprocess.run([str(word) for word in command], check=True, text=True,
                          stdout=subprocess.PIPE, **options).stdout


def read_needed(library):
    """The names of the libraries that a library needs."""
    return re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", library))


def read_glibc(library):
    """The newest version of glibc of which a library needs a symbol, as (major, minor)."""
    versions = re.findall(r"\bGLIBC_(\d+)\.(\d+)", run("objdump", "-T", library))
    return max((int(major), int(minor)) for major, minor in versions)


def find_library(name, library):
    """The file of a library that another one needs."""
    for line in run("ldd", library).splitlines():
        match = re.match(rf"\s*{re.escape(name)} => (\S+)", line)
        if match:
            return pathlib.Path(match[1])
    raise FileNotFoundError(f"{name}, which {library} needs")


def copy_library(source, target, package):
    """Copies a library, and those that it needs and systems may lack, into the package."""
    shutil.copyfile(source, target)
    target.chmod(0o755)
    run("strip", "--strip-unneeded", target)
    for name in read_needed(source):
        if SYSTEM.fullmatch(name):
            continue
        copy = package / name.replace(".so", "-tengine.so", 1)
        if not copy.exists():
            copy_library(find_library(name, source), copy, package)
            run("patchelf", "--set-soname", copy.name, copy)
        run("patchelf", "--replace-needed", name, copy.name, target)
    run("patchelf", "--set-rpath", "$ORIGIN", target)


def main(library, work, output):
    """The program."""
    shutil.rmtree(work, ignore_errors=True)
    package = work / "tengine"
    shutil.copytree(SOURCE / "tengine", package,
                    ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    for name in ("pyproject.toml", "setup.py"):
        shutil.copyfile(SOURCE / name, work / name)
    shutil.copyfile(SOURCE.parent / "LICENSE", work / "LICENSE")
    copy_library(library, package / "libtengine.so.2", package)
    major, minor = max(read_glibc(file) for file in package.glob("*.so*"))
    tag = f"manylinux_{major}_{minor}_{platform.machine()}"
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", output, work,
        env={**os.environ, "TENGINE_WHEEL_PLATFORM": tag})
    for wheel in output.glob(f"*{tag}.whl"):
        print(f"{wheel}: {wheel.stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: build_wheel.py <libtengine.so> <work folder> <folder of the wheel>")
    main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:]))
