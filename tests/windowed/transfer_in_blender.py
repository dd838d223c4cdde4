"""Transfer in the real program, with a window, pressing its buttons and dragging in its picture:

    blender --factory-startup --enable-event-simulate --python tests/windowed/transfer_in_blender.py [-- CASE ...]
    ... -- --pictures FOLDER buttons        what each button led to, as PNG files

Prints one line a check, "ok" or "FAILED"; exits with 0 if all were right, else with 1. Needs SciPy in that Blender's
Python (see the manifest). Two small bodies of the tests are the subjects, in a temporary folder; nothing of the user's
is touched.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import transfer_cases as cases  # noqa: E402
from driving import start  # noqa: E402
from transfer_picture import overlays, path  # noqa: E402

SCRIPT = cases.SCRIPT
CASES = (
    cases.buttons, cases.escape, path, overlays, cases.undone, SCRIPT.playback, cases.bakes, cases.edits,
    SCRIPT.saving, SCRIPT.disabled,
)  # fmt: skip

start(CASES, cases.make_file, SCRIPT.finish, cases.FOLDER, cases.BUTTONS)
