"""The layer contract: who may import whom. See the table; everything else is a mistake."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

BPY = {"bpy", "mathutils", "gpu", "gpu_extras", "blf"}
ERRORS = "solvers.core.errors"
# Layer (folder or root module) -> what it may import besides itself and the standard library. A dotted name
# allows that module of the layer only.
ALLOWED = {
    "solvers": {"numpy", "scipy"},
    "streams": {"numpy"},
    "scene": {"numpy", "bpy", "mathutils", "bpy_extras", "solvers.core", "solvers.skeleton"},
    "state": {"bpy"},
    "workflows": {"numpy", "scene", "solvers", "state", "streams"},
    "operators": {*BPY, "workflows", "state", ERRORS},
    "panels": {*BPY, "workflows", "state", ERRORS},
    "handlers": {"bpy", "workflows", "state"},
    "jobs": {"bpy", "workflows", "state", ERRORS, "checkout", "scene.interrupts"},
    "checkout": {"bpy", "addon_utils"},
    "registration": {"bpy", "workflows", "state", "operators", "panels", "handlers", "jobs"},
    "__init__": {"registration"},
}
LAYERS = set(ALLOWED)
# Packages of workflows that any workflow may stand on; every other one is a workflow, which no other imports.
SHARED = {"core", "interface", "command_line", "mesh", "rig", "environment"}
# What a workflow declares to Blender: classes of properties, lists and operators, and what those are made of.
DECLARES = re.compile(r"workflows/\w+/(settings|lists|operators|\w+_operator)\.py")
# They need bpy, or what needs it, only once it is there.
LATE = {"__init__.py", "registration.py", "jobs.py", "checkout.py"}


def modules():
    for layer in sorted(ALLOWED):
        folder = ROOT / layer
        module = ROOT / f"{layer}.py"
        yield from [module] if module.is_file() else sorted(folder.rglob("*.py"))


def imported(path: Path, tree: ast.AST):
    """(line, dotted name, relative?) of everything imported; relative ones resolved from the root."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, False) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.lineno, node.module, False
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) + 1 - node.level], *(node.module or "").split(".")]
            base = [part for part in base if part]
            yield from ((node.lineno, ".".join([*base, alias.name]), True) for alias in node.names)


def violations(path: Path, layer: str, tree: ast.AST):
    may_import = ALLOWED[layer] | ({"bpy"} if DECLARES.fullmatch(path.relative_to(ROOT).as_posix()) else set())
    for line, name, relative in imported(path, tree):
        top = name.split(".")[0]
        if not relative and top in LAYERS - {"checkout"}:
            yield f"{path.relative_to(ROOT)}:{line}: '{name}' must be imported relatively"
        elif not relative and top in sys.stdlib_module_names:
            continue
        elif top != layer and not any(f"{name}.".startswith(f"{allowed}.") for allowed in may_import):
            yield f"{path.relative_to(ROOT)}:{line}: {layer} may not import '{name}'"


@pytest.mark.parametrize("path", list(modules()), ids=lambda path: str(path.relative_to(ROOT)))
def test_layer_contract(path):
    relative = path.relative_to(ROOT)
    layer = relative.parts[0] if len(relative.parts) > 1 else relative.stem
    assert not list(violations(path, layer, ast.parse(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("solvers", "import bpy"),
        ("solvers", "from ..scene import actions"),
        ("scene", "from ..solvers.warp import solve"),
        ("streams", "from ..solvers import errors"),
        ("state", "from .. import workflows"),
        ("operators", "def f():\n    from ..solvers import warp"),
        ("panels", "from ..operators import steps"),
        ("workflows", "from motion_loom.scene import actions\nfrom scene import actions"),
    ],
)
def test_contract_catches(layer, source):
    assert list(violations(ROOT / layer / "example.py", layer, ast.parse(source)))


def test_only_declarations_of_workflows_know_blender():
    tree = ast.parse("import bpy")
    layer = ROOT / "workflows"
    assert not list(violations(layer / "adapt" / "settings.py", "workflows", tree))
    assert not list(violations(layer / "map" / "perform_operator.py", "workflows", tree))
    for name in ("workflow.py", "operator_words.py", "settings/read.py"):
        assert list(violations(layer / "adapt" / name, "workflows", tree))


def packages_imported(layer: str) -> dict[str, set[str]]:
    """Package of a layer -> the other packages of the layer that its modules import."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / layer).rglob("*.py")):
        package = path.relative_to(ROOT / layer).parent.name
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = [name.split(".") for _, name, relative in imported(path, tree) if relative]
        others = {parts[1] for parts in names if parts[0] == layer and len(parts) > 2}
        found.setdefault(package, set()).update(others - {package})
    found.pop("", None)  # the layer's own page, which names its packages
    return found


@pytest.mark.parametrize("layer", ["solvers", "workflows"])
def test_packages_stand_in_no_circle(layer):
    """Each package can be read, tested and thrown out without those that stand on it."""
    needs = packages_imported(layer)
    assert len(needs) > 5
    while needs:
        free = {package for package, others in needs.items() if not others & needs.keys()}
        assert free, f"a circle among {sorted(needs)}"
        needs = {package: others for package, others in needs.items() if package not in free}


def test_a_workflow_imports_no_other_workflow():
    for package, others in packages_imported("workflows").items():
        assert others <= SHARED, f"workflows/{package} imports {sorted(others - SHARED)}"


def test_what_serves_every_workflow_names_none():
    """A workflow is handed in: another one needs no change of operators, panels, handlers or of what it stands on."""
    own = {path.name for path in (ROOT / "workflows").iterdir() if path.is_dir() and path.name[0] != "_"} - SHARED
    assert len(own) > 3
    settings = re.compile(rf"motion_loom_({'|'.join(own)})\b")
    for path in modules():
        layer, *rest = path.relative_to(ROOT).with_suffix("").parts
        is_shared = layer == "workflows" and rest[0] in SHARED
        if is_shared or layer in {"operators", "panels", "handlers", "jobs", "state"}:
            text = path.read_text(encoding="utf-8")
            names = [name.split(".") for _, name, relative in imported(path, ast.parse(text)) if relative]
            named = {parts[1] for parts in names if parts[0] == "workflows" and len(parts) > 1} & own
            named |= {match[0] for match in settings.finditer(text)}
            assert not named, f"{path.relative_to(ROOT)} names {sorted(named)}"


@pytest.mark.parametrize("path", list(modules()), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_stand_at_the_top(path):
    """One inside a function hides a circle."""
    if str(path.relative_to(ROOT)) in LATE:
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    inside = (inner for function in functions for inner in ast.walk(function))
    assert not [node.lineno for node in inside if isinstance(node, (ast.Import, ast.ImportFrom))]


def test_no_test_module_imports_another():
    """What several need is a support module: a test module may be moved or split, and would be loaded twice."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    trees = ((path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths)
    found = [(path.name, name) for path, tree in trees for _, name, _ in imported(path, tree)]
    assert found and not [each for each in found if any(part.startswith("test_") for part in each[1].split("."))]


def test_files_can_be_read_in_one_go():
    """A file of more than 400 lines has more than one idea."""
    folders = [
        *(ROOT / layer for layer in LAYERS),
        *(ROOT / name for name in ("tests", "benchmarks", "examples", "scripts")),
    ]
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    assert not [path.name for path in paths if len(path.read_text(encoding="utf-8").splitlines()) > 400]


def test_files_that_the_architecture_names_are_there():
    """A map of places that were moved leads astray."""
    named = re.findall(r"`(\w+/[\w/]+\.py)`", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    assert named and not [name for name in named if not (ROOT / name).is_file()]


def test_root_package_imports_nothing_at_module_level():
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    assert not [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]


@pytest.mark.parametrize("layer", ["solvers", "streams"])
def test_loads_without_blender(layer):
    paths = (path.relative_to(ROOT).with_suffix("") for path in (ROOT / layer).rglob("*.py"))
    names = sorted(".".join(path.parts) for path in paths)
    blocked = "; ".join(f"sys.modules['{name}'] = None" for name in sorted(BPY))
    loads = "; ".join(f"import {name.removesuffix('.__init__')}" for name in names)
    subprocess.run([sys.executable, "-c", f"import sys; {blocked}; {loads}"], cwd=ROOT, check=True)
