"""``blender -b FILE --command motion_loom WORKFLOW ...`` and ``python jobs.py WORKFLOW FILE ...``.

Exit codes: 0 done, 1 failed with the reason on stderr, 2 usage.
"""

from __future__ import annotations

import signal


class _Noting:
    """A handler of SIGINT that only notes it, for `interrupts.heeded` to find."""

    noted = False

    def __call__(self, _number, _frame) -> None:
        self.noted = True


if __name__ == "__main__":
    # Before anything else: Ctrl+C would tear apart the loading of Blender's module, which crashes, or be lost in it.
    signal.signal(signal.SIGINT, _Noting())

import argparse
import ctypes
import errno
import importlib
import json
import math
import os
import re
import sys
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .workflows.core.base import Workflow

DONE, FAILED = 0, 1
_PRINTED_IN_VAIN = errno.EPIPE, errno.ENOSPC
# A pair of frames of which the first is negative: no option.
_NEGATIVE_FRAME = re.compile(r"-[\d.]+=")


def main(argv: list[str], opens_file: bool = False, workflows: Sequence[Workflow] | None = None) -> int:
    """Run one command; returns the exit code.

    argv:       the words after ``motion_loom`` (or after ``jobs.py``).
    opens_file: the first argument of each sub-command is the .blend to open; Blender itself opens its own.
    workflows:  whose commands there are, by default those that the extension is registered with.
    """
    from .scene import interrupts
    from .solvers.core.errors import MotionLoomError, TooLargeError
    from .workflows.core import registry

    command = argv[0] if argv else ""
    try:
        with interrupts.heeded():
            offered = registry.registered() if workflows is None else workflows
            args = build_parser(offered, opens_file).parse_args(_with_negative_frames(argv))
            report = _run(args, opens_file)
    except SystemExit as end:
        # argparse has printed the help (0) or the usage error (2) and would end Blender.
        return end.code
    except MotionLoomError as error:
        print(f"motion_loom {command}: {error}", file=sys.stderr)
        return FAILED
    except MemoryError as error:
        print(f"motion_loom {command}: {TooLargeError('this', error)}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(f"motion_loom {command}: interrupted; nothing was saved.", file=sys.stderr)
        return FAILED
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _PRINTED_IN_VAIN:  # a line on the way; files have other errors
            return _unread(command, error.strerror, "nothing is saved")
        # A bug of ours: Blender would print it and still exit with 0.
        traceback.print_exc()
        return FAILED
    for note in report.get("notes", ()):
        print(f"Note: {note}", file=sys.stderr)
    return _let_out(report, args.json)


def _let_out(report: dict, as_json: bool) -> int:
    """Print where the result is, the report where it is asked for, and all that waits; returns the exit code."""
    saved = f"the result is saved in '{report['output']}'" if report["output"] else "nothing is saved"
    if sys.stdout is None:
        return _unread(report["command"], "there is no standard output", saved) if as_json else DONE
    text = json.dumps(_without_nan(report), ensure_ascii=False, allow_nan=False) if as_json else None
    try:
        if report["output"]:
            print(f"Saved '{report['output']}'")
        if text is not None:
            _flush_blender()
            print(text)
        sys.stdout.flush()
    except OSError as error:
        return _unread(report["command"], error.strerror, saved)
    return DONE


def _unread(command: str, reason: str, saved: str) -> int:
    """Say that nobody reads what is printed, or that the disk it goes to is full; returns the exit code."""
    print(f"motion_loom {command}: The report cannot be printed: {reason}; {saved}.", file=sys.stderr)
    # What still waits would fail once more when the program ends.
    sys.stdout = open(os.devnull, "w", encoding="utf-8")
    return FAILED


def _without_nan(value):
    """A report as JSON can hold it: numbers that are none are null."""
    if isinstance(value, dict):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _with_negative_frames(argv: list[str]) -> list[str]:
    """The same words; argparse takes one that begins with a blank for a value, whatever follows."""
    return [f" {word}" if _NEGATIVE_FRAME.match(word) else word for word in argv]


def build_parser(workflows, opens_file: bool) -> argparse.ArgumentParser:
    """The parser of both front doors; each workflow contributes its sub-commands."""
    prog = "python jobs.py" if opens_file else "blender --background FILE --command motion_loom"
    parser = argparse.ArgumentParser(prog=prog, description="Motion Loom without a window.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="WORKFLOW")
    for command in (command for workflow in workflows for command in workflow.commands()):
        sub = commands.add_parser(command.name, help=command.help, description=command.help)
        if opens_file:
            sub.add_argument("file", metavar="FILE", help="the .blend to open")
        command.add_arguments(sub)
        saving = sub.add_mutually_exclusive_group()
        saving.add_argument("--output", metavar="OUT.blend", help="save the result to this file")
        saving.add_argument("--save", action="store_true", help="save the result over the opened file")
        sub.add_argument("--json", action="store_true", help="print the report as JSON, as the last line")
        sub.set_defaults(run=command.run)
    return parser


def _run(args, opens_file: bool) -> dict:
    import bpy

    from .workflows.command_line import scene_file
    from .workflows.core import live

    if opens_file:
        scene_file.open_scene(args.file)
    place = scene_file.place_of(args.output, args.save)
    with scene_file.saved_to(place), live.paused():
        report = args.run(bpy.context, args)
    if not place:
        print("Nothing is saved: give --output OUT.blend or --save to keep the result.", file=sys.stderr)
    return {"command": args.command, "output": str(place.path) if place else None, **report}


def _flush_blender() -> None:
    """Let out what Blender's C code has printed; in a pipe it would otherwise follow the report at exit."""
    ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)


def _main_of_script() -> int:
    """``python jobs.py``: enable this folder in the bpy module, then go through the same door."""
    import checkout

    try:
        package = checkout.enable()
    except ImportError as error:
        print(f"motion_loom: {error}", file=sys.stderr)
        return FAILED
    return importlib.import_module(f"{package}.jobs").main(sys.argv[1:], opens_file=True)


if __name__ == "__main__":
    sys.exit(_main_of_script())
