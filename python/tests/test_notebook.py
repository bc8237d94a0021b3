# SPDX-License-Identifier: Apache-2.0
"""The notebook of the examples: its cells run in order, and show what they end with."""
import ast
import importlib.util
import json

import pytest
from conftest import ROOT

import tengine

NOTEBOOK = ROOT / "examples" / "python" / "digits.ipynb"


def run_cell(source, names):
    """The value of a cell's last expression, None without one."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), str(NOTEBOOK), "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)


def test_cells(monkeypatch):
    """Sessions and reports have tables, and int8 is as accurate as float."""
    if "TPU" not in tengine.devices():
        pytest.skip("the library is built without the device TPU")
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("MPLBACKEND", "agg")
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    has_plots = importlib.util.find_spec("matplotlib") is not None
    names, shown = {}, []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and (has_plots or "matplotlib" not in source):
            assert cell["outputs"] == []
            shown.append(run_cell(source, names))
    tables = [value._repr_html_() for value in shown if hasattr(value, "_repr_html_")]
    tables = [table for table in tables if table and "<table>" in table]
    assert len(tables) == 2
    assert "TPU" in tables[1] and "bf16" not in tables[0]
    assert names["accuracy"] > 0.98 and names["int8_accuracy"] > 0.97
