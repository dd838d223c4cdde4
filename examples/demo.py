"""What the demos have in common: their options, the extension from this checkout, errors in one line."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


class DemoError(Exception):
    """The demo cannot go on; the text says why."""


def run(demo: Callable, name: str, about: str, argv: list[str] | None, pictures: int) -> int:
    """Enable the extension and run demo(args, package); 0 done, 1 failed with the reason on stderr.

    name: of the files that it writes, without their ends.  pictures: how many a row, unless told.
    """
    args = _parser(name, about, pictures).parse_args(argv)
    import checkout

    try:
        package = checkout.enable()
        import clip

        errors = importlib.import_module(f"{package}.solvers.core.errors")
    except ImportError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    try:
        os.makedirs(args.out, exist_ok=True)
        demo(args, package)
    except (DemoError, clip.ClipError, errors.MotionLoomError, OSError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    return 0


def _parser(name: str, about: str, pictures: int) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--clip", default=os.environ.get("CLIP") or None, help="a BVH file to use instead")
    parser.add_argument("--out", default=str(ROOT / "demo"), help=f"folder for {name}.blend and {name}.png")
    parser.add_argument("--pictures", type=int, default=pictures, help="a row")
    parser.add_argument("--width", type=int, default=224, help="of one picture, in pixels")
    parser.add_argument("--samples", type=int, default=8, help="a pixel")
    return parser
