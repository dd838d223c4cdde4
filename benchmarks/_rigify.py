"""Rigs that the Rigify add-on generates from its metarigs; Blender ships it.

The add-on runs in a process of its own: it does not survive the end of every Blender module.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

METARIGS = {
    "basic": "armature_basic_human_metarig_add",
    "human": "armature_human_metarig_add",
    "horse": "armature_horse_metarig_add",
    "cat": "armature_cat_metarig_add",
    "bird": "armature_bird_metarig_add",
}
_MISSING = 77


class NoRigifyError(RuntimeError):
    """This Blender comes without the add-on."""


def generated(kind: str, folder: Path, with_metarig: bool = False) -> Path:
    """A file in a folder with the object `rig`, generated from a metarig as it is added; made once a folder.

    with_metarig: the metarig stays in the file, as the add-on leaves it.  Raises NoRigifyError.
    """
    path = Path(folder) / f"{kind}{'_with_metarig' if with_metarig else ''}.blend"
    if path.exists():
        return path
    apart = os.environ | {"BLENDER_USER_RESOURCES": str(folder)}
    order = [sys.executable, __file__, METARIGS[kind], str(path), str(int(with_metarig))]
    made = subprocess.run(order, env=apart, capture_output=True, text=True, check=False)
    if made.returncode == _MISSING:
        raise NoRigifyError("This Blender comes without the Rigify add-on.")
    if not path.exists():
        raise RuntimeError(f"Rigify did not generate '{kind}': {made.stderr[-2000:]}")
    return path


def _generate(operator: str, path: str, keep: bool) -> None:
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True)
    if importlib.import_module("addon_utils").enable("rigify", default_set=True) is None:
        os._exit(_MISSING)
    getattr(bpy.ops.object, operator)()
    metarig = bpy.context.object
    bpy.ops.pose.rigify_generate()
    rig = metarig.data.rigify_target_rig
    rig.name = "rig"
    if not keep:
        bpy.data.objects.remove(metarig)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    os._exit(0)


if __name__ == "__main__":
    _generate(sys.argv[1], sys.argv[2], sys.argv[3] == "1")
