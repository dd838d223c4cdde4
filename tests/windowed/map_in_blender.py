"""Map in the real program, with a window, pressing its buttons:

    blender --factory-startup --enable-event-simulate --python tests/windowed/map_in_blender.py [-- CASE ...]
    ... -- --pictures FOLDER buttons        what each button led to, as PNG files

Prints one line a check, "ok" or "FAILED"; exits with 0 if all were right, else with 1. Needs SciPy in that Blender's
Python (see the manifest). It maps the demo's walker onto the caterpillar, or, with MOTION_LOOM_DATA in the
environment, a dog onto a horse, in a temporary folder; nothing of the user's is touched.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "examples"), str(Path(__file__).parent)]

import map_cases as cases  # noqa: E402
from driving import start  # noqa: E402
from map_drawing import overlays, render  # noqa: E402

SCRIPT = cases.SCRIPT
CASES = (
    cases.buttons, cases.escape, cases.undone, cases.two_back, SCRIPT.playback, cases.edits, cases.performed,
    SCRIPT.saving, SCRIPT.disabled, cases.deleted, cases.scenes, render, overlays,
)  # fmt: skip

start(CASES, cases.make_file, SCRIPT.finish, cases.FOLDER, cases.BUTTONS)
