"""One word, one thing: a public class or function has a name that no other one has."""

import ast
from collections import defaultdict
from pathlib import Path

import elmo

ROOT = Path(elmo.__file__).parent
# Token rules and sentence rules are alternatives with one signature: they are meant to be named alike.
ALIKE = {"split", "tokenize", "words"}


def test_no_public_name_means_two_things() -> None:
    """`compat` and `integrations` repeat the names of others on purpose, functions of `apps` are named like what they
    call, kernels stay inside."""
    homes = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        module = path.relative_to(ROOT)
        if module.parts[0] in ("compat", "integrations") or module.stem == "kernels":
            continue
        kinds = (ast.ClassDef,) if module.parts[0] == "apps" else (ast.ClassDef, ast.FunctionDef)
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, kinds) and not node.name.startswith("_"):
                homes[node.name].append(str(module))
    assert {name: found for name, found in homes.items() if len(found) > 1 and name not in ALIKE} == {}
