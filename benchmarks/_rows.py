"""The command line of benchmarks that solve cases under some changes, print a row of each and write a page of all."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[1]
Row = TypeVar("Row")


def print_rows(
    about: str,
    known: Iterable[tuple[str, str]],
    row: Callable[[str, str], Row],
    line: Callable[[Row], str],
    page: Callable[[list[Row]], str],
    path: Path,
) -> None:
    """about: the help.  known: case and change of each row.  row: solves and measures one.  line, page: as text.
    path: of the page."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE:EDIT", help="which, by default all of the page")
    parser.add_argument("--page", action="store_true", help=f"write {path.relative_to(ROOT)}")
    args = parser.parse_args()
    chosen = [case.split(":", 1) for case in args.cases]
    rows = []
    for name, edit in chosen or known:
        rows.append(row(name, edit))
        print(line(rows[-1]), flush=True)
    if args.page:
        path.write_text(page(rows))
        print(f"Wrote {path.relative_to(ROOT)}.")
