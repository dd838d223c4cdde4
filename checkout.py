"""Enable this very folder as an extension of the bpy module, in a throw-away profile.

For tests, examples and ``python jobs.py``; Blender itself never calls it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent
PACKAGE = "bl_ext.devrepo.motion_loom"


def enable() -> str:
    """Link this folder into a temporary profile and enable it; returns the package's name.

    A second call changes nothing. Raises RuntimeError when bpy was imported before the first one (it reads
    the profile's place at import), ImportError when bpy does not load, else whatever ``register()`` raises.
    """
    if PACKAGE in sys.modules:
        return PACKAGE
    if "bpy" in sys.modules:
        raise RuntimeError("Call checkout.enable() before anything imports bpy.")
    profile = Path(tempfile.mkdtemp(prefix="motion_loom_"))
    atexit.register(shutil.rmtree, profile, ignore_errors=True)
    os.environ["BLENDER_USER_RESOURCES"] = str(profile)
    repository = profile / "devrepo"
    repository.mkdir()
    (repository / "motion_loom").symlink_to(ROOT, target_is_directory=True)

    bpy = _import_bpy()
    import addon_utils  # importable only once bpy is

    bpy.context.preferences.extensions.repos.new(
        name="devrepo", module="devrepo", custom_directory=str(repository), remote_url="", source="USER"
    )
    errors: list[Exception] = []
    addon_utils.enable(PACKAGE, default_set=True, handle_error=errors.append)
    if errors:
        raise errors[0]
    return PACKAGE


def _import_bpy():
    """The bpy module; ImportError tells how to get it."""
    try:
        import bpy
    except ImportError as error:
        raise ImportError(
            f"The bpy module does not load ({error}). `make test` sets up an environment that has it, or "
            "`pip install bpy` on Python 3.11 or 3.13. A bare Linux also needs `apt-get install libx11-6 "
            "libxrender1 libxxf86vm1 libxfixes3 libxi6 libxkbcommon0 libsm6 libice6 libgl1`."
        ) from error
    return bpy
