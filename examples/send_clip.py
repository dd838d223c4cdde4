"""Send a clip as live motion: python examples/send_clip.py CLIP [--port 39539] [--rate 120] [--loop]

CLIP is a BVH file, or an .npz with `positions` (F, J, 3) in metres, Z up, `names` (J,) and, if it is not 30, `fps`.
Each frame is one packet of /motion_loom/point messages and a clock; large ones are split. Needs Python and NumPy only.
"""

from __future__ import annotations

import argparse
import math
import socket
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
LARGEST = 32_000  # bytes of a packet; UDP takes 65507


class ClipError(Exception):
    """The clip cannot be sent; the text says why."""


def text(words: str) -> bytes:
    """A string as Open Sound Control writes it."""
    raw = words.encode()
    return raw + bytes(4 - len(raw) % 4)


def message(address: str, *values) -> bytes:
    """One message of texts and numbers."""
    tags = "".join("s" if isinstance(value, str) else "f" for value in values)
    parts = (text(value) if isinstance(value, str) else struct.pack(">f", value) for value in values)
    return text(address) + text(f",{tags}") + b"".join(parts)


def bundle(*elements: bytes) -> bytes:
    """A bundle of messages or bundles, to be used at once."""
    return b"#bundle\0" + struct.pack(">Q", 1) + b"".join(struct.pack(">i", len(part)) + part for part in elements)


def packets(names, positions, seconds: float) -> list[bytes]:
    """One frame: points (J, 3) in bundles of a size that UDP takes, the clock in the last; NaN points are left out."""
    parts = [
        message("/motion_loom/point", name, *point)
        for name, point in zip(names, positions.tolist(), strict=True)
        if all(map(math.isfinite, point))
    ]
    parts.append(message("/VMC/Ext/T", seconds))
    groups, size = [[]], 0
    for part in parts:
        size += len(part) + 4
        if size > LARGEST:
            groups.append([])
            size = len(part) + 4
        groups[-1].append(part)
    return [bundle(*group) for group in groups]


def read(path: str, metres: float) -> tuple[list[str], np.ndarray, float]:
    """Names, positions (F, J, 3) in metres, Z up, and frames a second of a clip."""
    from benchmarks.bvh import read_bvh_track
    from solvers.core.errors import InputError

    try:
        if path.lower().endswith(".bvh"):
            track = read_bvh_track(Path(path), metres)
            return list(track.skeleton.names), track.positions, track.fps
        with np.load(path) as stored:
            lost = [name for name in ("names", "positions") if name not in stored]
            if lost:
                raise ClipError(f"'{path}' has no '{lost[0]}'; an .npz needs names (J,) and positions (F, J, 3).")
            names, positions = [str(name) for name in stored["names"]], np.asarray(stored["positions"], float)
            fps = float(stored["fps"]) if "fps" in stored else 30.0
    except (OSError, KeyError, ValueError, IndexError, InputError) as error:
        raise ClipError(f"'{path}' cannot be read: {error}") from error
    if positions.ndim != 3 or positions.shape[1:] != (len(names), 3) or not len(positions) or not fps > 0.0:
        wanted = f"(F, {len(names)}, 3) are needed for its {len(names)} names"
        raise ClipError(f"'{path}' holds positions {positions.shape}; {wanted}.")
    return names, positions, fps


def frames(positions: np.ndarray, fps: float, rate: float, loop: bool) -> Iterator[np.ndarray]:
    """Points (J, 3) at ``rate`` a second, by straight lines between the clip's frames."""
    last = len(positions) - 1
    count = int(last * rate / fps) + 1
    while True:
        for k in range(count):
            at = min(k * fps / rate, last)
            low = min(int(at), max(last - 1, 0))
            high = min(low + 1, last)
            yield positions[low] + (at - low) * (positions[high] - positions[low])
        if not loop:
            return


def send(names, moments: Iterator[np.ndarray], rate: float, host: str, port: int) -> int:
    """Send each moment (J, 3) when it is due; returns how many frames were sent."""
    began, sent = time.perf_counter(), 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for points in moments:
            due = sent / rate
            time.sleep(max(0.0, began + due - time.perf_counter()))
            for packet in packets(names, points, due):
                out.sendto(packet, (host, port))
            sent += 1
    return sent


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clip", help="a .bvh or .npz file")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=39539)
    parser.add_argument("--rate", type=float, help="frames a second (the clip's)")
    parser.add_argument("--metres", type=float, default=0.01, help="of one unit of a BVH file (0.01)")
    parser.add_argument("--loop", action="store_true", help="from the start again, until interrupted")
    args = parser.parse_args(argv)
    try:
        names, positions, fps = read(args.clip, args.metres)
        rate = args.rate or fps
        if not rate > 0.0:
            raise ClipError(f"{rate} frames a second cannot be sent; give --rate a number above zero.")
        sent = send(names, frames(positions, fps, rate, args.loop), rate, args.host, args.port)
    except (ClipError, OSError) as error:
        print(f"send_clip: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    print(f"{sent} frames of {len(names)} joints sent to {args.host}, port {args.port}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
