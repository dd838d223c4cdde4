"""Adapt live in the real program, with a window, pressing its buttons:

    blender --factory-startup --enable-event-simulate --python tests/windowed/live_in_blender.py [-- CASE ...]

Prints one line a check, "ok" or "FAILED"; exits with 0 if all were right, else with 1. Needs SciPy in that Blender's
Python (see the manifest). It binds the demo's walker in a temporary folder; nothing of the user's is touched.
"""

from __future__ import annotations

import sys
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "examples"), str(Path(__file__).parent)]

import live_cases  # noqa: E402
import live_modes  # noqa: E402
import live_script as adapt  # noqa: E402
from driving import Session, start  # noqa: E402


def finish(session: Session):
    """Quit in the middle of a solve; the exit code tells whether that went well."""
    session.require_right()
    yield from adapt.went_live(session)
    adapt.lift(0.1)
    yield from adapt.solving()
    print(f"all right; now it quits while {adapt.track()}", flush=True)
    bpy.ops.wm.quit_blender()


start(live_cases.CASES + live_modes.CASES, adapt.make_scene, finish, adapt.FOLDER, adapt.BUTTONS)
