# SPDX-License-Identifier: Apache-2.0
"""Runs blocks of a page in one process: run_python.py <earlier blocks…> <block>. The output is
that of the last one."""
import contextlib
import io
import sys

names = {"__name__": "__main__"}
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        program = compile(file.read(), path, "exec")
    is_last = path == sys.argv[-1]
    with contextlib.redirect_stdout(sys.stdout if is_last else io.StringIO()):
        exec(program, names)
