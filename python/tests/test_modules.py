"""Modules of the package import each other one way, imports inside functions included."""

import ast
import pathlib

import carom

FOLDER = pathlib.Path(carom.__file__).parent


def imported(path, names):
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            whole = [node.module] if node.module else [alias.name for alias in node.names]
            found |= {name.split(".")[0] for name in whole}
    return found & names - {path.stem}


def test_no_module_needs_itself_through_others():
    names = {path.stem for path in FOLDER.glob("*.py")}
    needs = {name: imported(FOLDER / f"{name}.py", names) for name in names}
    assert sum(map(len, needs.values())) > 2 * len(names)
    while leaves := {name for name, of in needs.items() if not of}:
        needs = {name: of - leaves for name, of in needs.items() if name not in leaves}
    assert not needs, f"these import each other: {sorted(needs)}"
