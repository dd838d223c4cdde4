"""What users install: the built ZIP, in an empty profile, with no SciPy but the one it carries."""

import json
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

INSTALL_AND_RUN = """
import importlib, os, sys
import bpy

bpy.ops.object.armature_add()
rig = bpy.context.object
for frame, height in ((1, 0.0), (11, 2.0)):
    rig.pose.bones[0].location.z = height
    rig.pose.bones[0].keyframe_insert("location", frame=frame)
bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=True)
package = "bl_ext.user_default.motion_loom"
assert package in bpy.context.preferences.addons, "not enabled"
import scipy
import scipy.sparse.linalg
assert scipy.__file__.startswith(os.environ["BLENDER_USER_RESOURCES"]), scipy.__file__
sys.exit(importlib.import_module(f"{package}.jobs").main(sys.argv[2:]))
"""

LIST_ACTIONS = """
import sys
import bpy

bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
print(*bpy.data.actions.keys(), sep="\\n")
"""

ENABLE_CHECKOUT = """
import sys

sys.path.insert(0, sys.argv[1])
import checkout

try:
    checkout.enable()
except ImportError as error:
    print(error)
    sys.exit(1)
"""


def test_zip_holds_what_users_need_and_no_more(built_zip):
    names = zipfile.ZipFile(built_zip).namelist()
    folders = {name.split("/")[0] for name in names if "/" in name}
    layers = {"solvers", "streams", "scene", "state", "workflows", "operators", "panels"}
    assert folders <= {*layers, "wheels"}
    assert {"blender_manifest.toml", "LICENSE", "__init__.py"} <= set(names)
    wheels = sorted(name for name in names if name.endswith(".whl"))
    assert ["cp311", "cp313"] == [name.split("-")[2] for name in wheels]


def test_zip_installs_and_bakes(built_zip, run_as_blender, tmp_path):
    out = tmp_path / "baked.blend"
    words = ["bake", "--rig", "Armature", "--name", "Copy", "--output", out, "--json"]
    done = run_as_blender(INSTALL_AND_RUN, built_zip, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert (report["action"], report["keys_per_curve"]) == ("Copy", 11)
    assert "Copy" in run_as_blender(LIST_ACTIONS, out).stdout.splitlines()


def test_wrong_command_is_a_usage_error(built_zip, run_as_blender):
    done = run_as_blender(INSTALL_AND_RUN, built_zip, "no_such_workflow")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "no_such_workflow" in done.stderr


def test_checkout_without_scipy_says_how_to_get_it(run_as_blender):
    done = run_as_blender(ENABLE_CHECKOUT, ROOT)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Motion Loom needs SciPy" in done.stdout
    assert "pip install scipy" in done.stdout
