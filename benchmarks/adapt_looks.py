"""What an animator would reject of Adapt: the worst jump, turn, tilt and contact of every row, against its bars.

``python benchmarks/adapt_looks.py --rows development`` prints a line a row and how many passed.  ``--kind slope seat``,
``--scene NAME ...`` choose among them; ``--out raw.json`` keeps the figures; ``--strip DIR`` draws each row around its
worst frame, source in grey.  ``--rows all --page`` writes docs/manual/adapt_looks.md and its strips; with files of
``--out`` after it, from their figures.  Rules are tuned on development rows alone and
reported on the held-out ones as well.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Before NumPy comes in: a second thread makes small solves wait for each other on a busy machine.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"))
sys.path.insert(0, str(ROOT))

from benchmarks import _adapt_looks_measures as looks  # noqa: E402
from benchmarks import _adapt_looks_page as page  # noqa: E402
from benchmarks import _adapt_looks_rows as table  # noqa: E402
from benchmarks import _adapt_looks_strip as strip  # noqa: E402
from benchmarks import _adapt_looks_words as words  # noqa: E402
from benchmarks import _adapt_speed as speed  # noqa: E402
from solvers.core.errors import InputError  # noqa: E402

PAGE = ROOT / "docs" / "manual" / "adapt_looks.md"
# What the rows came to before Upright and what came with it, in the measures of now.
BEFORE = ROOT / "benchmarks" / "baselines" / "adapt_looks_before.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", choices=(table.DEVELOPMENT, table.HELD_OUT, "all"), default=table.DEVELOPMENT)
    parser.add_argument("--kind", nargs="+", choices=table.KINDS, default=table.KINDS)
    parser.add_argument("--scene", nargs="+", choices=table.BUILDERS, metavar="NAME", default=())
    parser.add_argument("--edit", nargs="+", metavar="NAME", help="only these changes")
    parser.add_argument("--failed", action="store_true", help="print only rows that fail")
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the raw figures as JSON")
    parser.add_argument("--strip", type=Path, metavar="DIR", help="draw each row there (with --failed: that fails)")
    parser.add_argument("--page", nargs="*", type=Path, metavar="RAW", help="write the manual's page")
    args = parser.parse_args()
    if args.page:
        _write_page([entry for path in args.page for entry in json.loads(path.read_text())["rows"]])
        return
    rows = table.rows(args.rows, tuple(args.kind), tuple(args.scene))
    rows = [row for row in rows if args.edit is None or row.edit in args.edit]
    found = []
    for result in looks.results(rows):
        found.append(words.entry(result.row, result.figures))
        if not args.failed or found[-1]["broken"]:
            print(words.line(result.row, result.figures), flush=True)
            if args.strip:
                strip.draw(result, args.strip / f"{words.slug(result.row)}.png")
    print(words.summary(found))
    if args.out:
        args.out.write_text(json.dumps({"rows": found}, indent=1))
    if args.page is not None:
        _write_page(found)
    if args.json:
        print(json.dumps({"rows": found}))


def _write_page(found: list[dict]) -> None:
    """The page, and the strips of its rows, which are solved anew."""
    about = speed.machine()
    where = f"Measured on: {about['processor']}, one thread, Python {about['python']}, NumPy {about['numpy']}"
    PAGE.write_text(page.page(found, json.loads(BEFORE.read_text())["rows"], where))
    known = {(entry["scene"], entry["edit"]): entry for entry in found if entry["size"] == 1.0}
    rows = [row for row in table.rows() if (row.scene, row.edit) in known and (row.scene, row.edit) in page.PICTURES]
    for result in looks.results([row for row in rows if row.size == 1.0]):
        strip.draw(result, PAGE.parent / "images" / page.picture(known[result.row.scene, result.row.edit]))
    print(f"Wrote {PAGE.relative_to(ROOT)}.")


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(f"Error: {error}")
