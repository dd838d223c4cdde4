"""How feet of meshes stand that Map and Transfer move: free, held, live, beside the target's own clips.

``python benchmarks/feet.py --json`` prints a line a case and, as its last line, all figures; it needs the captures.
``--only WORD`` looks at the cases with that word in their names.  ``--full`` writes docs/manual/feet_measures.md and
its strips as well.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"))
sys.path.insert(0, str(ROOT))

PAGE = ROOT / "docs" / "manual" / "feet_measures.md"


def main() -> None:
    from benchmarks import _feet_measures
    from benchmarks._feet_cases import cases

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--only", default="", metavar="WORD", help="only the cases with that word in their names")
    parser.add_argument("--full", action="store_true", help="write the manual's page and its strips")
    args = parser.parse_args()
    figures = {}
    for case in cases(args.only):
        found = _feet_measures.measured(case) | {"looked_at": case.looked_at}
        figures[case.name] = {key: float(f"{value:.3g}") for key, value in found.items()}
        print(f"{case.name:42}", *(f"{key} {value:g}" for key, value in figures[case.name].items()), flush=True)
        if args.full:
            from benchmarks import _feet_picture

            _feet_picture.draw(case, PAGE.parent / "images")
    if args.full:
        from benchmarks import _feet_page

        PAGE.write_text(_feet_page.page(figures))
        print(f"Wrote {PAGE.relative_to(ROOT)}.")
    if args.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
