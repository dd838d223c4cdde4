"""A workflow in the real program, with a window, pressing its buttons:

    blender --factory-startup --enable-event-simulate --python tests/windowed/in_blender.py -- WORKFLOW [CASE ...]
    ... -- WORKFLOW --pictures FOLDER buttons        what each button led to, as PNG files

Of "adapt" the demo's walker is live, of "map" it drives the caterpillar, of "stream" a process of its own sends, of
"transfer" two small bodies of the tests are the subjects. Prints one line a check, "ok" or "FAILED"; exits with 0 if
all were right, else with 1. Needs SciPy in that Blender's Python (see the manifest). All files are made in a temporary
folder; nothing of the user's is touched.
"""

import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "examples"), str(Path(__file__).parent)]

# The last of the modules of each, which names its cases.
MODULES = {"adapt": "live_ground", "map": "map_drawing", "stream": "stream_cases", "transfer": "transfer_picture"}
workflow = MODULES[sys.argv[sys.argv.index("--") + 1]]
importlib.import_module("driving").start(*importlib.import_module(workflow).RUN)
