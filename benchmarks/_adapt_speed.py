"""Speed of Adapt on one standard problem, and how its cost grows with frames, joints and descriptors.

The problem: frames 1,200 to 2,199 of climb 1 (up, over and down again), 120 fps; the body, two joints a finger but the
thumbs and the tip of the head, 38 joints; two boxes and the ground cut into 6,025 quads, 12,050 triangles; both boxes
lifted by 10 cm and tilted by 8 degrees. Binding places some more than 400 descriptors, of which 400 evenly chosen ones
are kept for all other figures.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy

from benchmarks.baselines.paper_warp import paper_adapt
from solvers.adapt import binding as adapt_binding
from solvers.adapt.binding import Binding
from solvers.adapt.solve import AdaptedMotion, AdaptOptions, adapt
from solvers.core.subsampling import evenly_spaced_indices
from solvers.core.types import JointTrack, MeshTrack, Skeleton
from solvers.surface.descriptor_frames import DescriptorPoints, descriptor_frames

from . import edits
from .climbs import climb
from .metrics import without_joints

CLIMB, START, FRAMES = 1, 1200, 1000
EDIT = "lifted_and_tilted"
DESCRIPTORS = 400
BOX_CUTS, GROUND_CUTS = 20, 5
HEAD_TIP = 0.18
ROUNDS = 3


class BakeError(RuntimeError):
    """The bake benchmark, which needs the bpy module, did not run."""


@dataclass
class Problem:
    """A clip, its environment before and after, and what is bound of it (``keep``)."""

    track: JointTrack
    before: list[MeshTrack]
    after: list[MeshTrack]
    effectors: np.ndarray
    height: float
    binding: Binding | None = None

    def bind(self) -> Binding:
        """Everything that does not depend on the changed environment."""
        binding = adapt_binding.fit(self.track, self.before, self.effectors, self.height)
        # Computed when first asked for, and kept.
        _ = binding.tree, binding.samples, binding.joint_distance, binding.contact, binding.relations
        return binding

    def keep(self, binding: Binding) -> None:
        """Of a binding, with 400 evenly chosen descriptors."""
        self.binding = self.with_points(binding, _chosen(binding.points, DESCRIPTORS))

    def with_points(self, binding: Binding, points: DescriptorPoints) -> Binding:
        """The binding with other descriptors, everything computed."""
        origins, axes = descriptor_frames(points, self.before)
        out = replace(binding, points=points, origins=origins, axes=axes)
        _ = out.tree, out.samples, out.joint_distance, out.contact, out.relations
        return out

    def adapt(self, collision: bool) -> AdaptedMotion:
        return adapt(self.binding, self.after, AdaptOptions(collision=collision))

    def paper(self) -> np.ndarray:
        """The printed scheme on the same problem; its targets have no part that is prepared at bind."""
        b = self.binding
        changed = descriptor_frames(b.points, self.after)
        skeleton = self.track.skeleton
        return paper_adapt(self.track.positions, skeleton.parents, (b.origins, b.axes), changed, self.height)


def standard() -> Problem:
    """The problem of the module's docstring, not bound yet."""
    scene = climb(CLIMB, fingers=True)
    names = scene.track.skeleton.names
    track = without_joints(scene.track, [name for name in names if "Thumb" in name or name.endswith("3")])
    track = _with_head_tip(edits.sub_clip(track, START, START + FRAMES))
    environment = {
        mesh.name: cut(mesh, GROUND_CUTS if mesh.name == "Ground" else BOX_CUTS) for mesh in scene.environment.values()
    }
    changed = edits.applied(environment, scene.edits[EDIT])
    held = [name for group in scene.effectors.values() for name in group]
    effectors = np.isin(track.skeleton.names, held)
    return Problem(track, list(environment.values()), list(changed.values()), effectors, scene.height)


def measured() -> tuple[dict, dict[str, float]]:
    """The machine, with what exactly was solved, and the figures."""
    before, begun, used = os.getloadavg()[0], time.perf_counter(), time.process_time()
    problem = standard()
    bound = [_timed(problem.bind) for _ in range(ROUNDS)]
    problem.keep(bound[0][1])
    seconds = {
        "batch_fps": _median(lambda: problem.adapt(collision=False)),
        "batch_collision_fps": _median(lambda: problem.adapt(collision=True)),
        "paper_fps": _median(problem.paper, 1),
    }
    share = (time.process_time() - used) / (time.perf_counter() - begun)
    figures = {key: FRAMES / value for key, value in seconds.items()}
    figures["bind_s"] = statistics.median(t for t, _ in bound)
    figures |= bake_figures()
    few = _every(problem, 4)
    for name, sizes in (("frames", _more_frames), ("joints", _more_joints), ("descriptors", _more_descriptors)):
        figures |= _growth(name, sizes(problem, few))
    about = machine() | {
        "load_average_before_after": [round(before, 2), round(os.getloadavg()[0], 2)],
        # Less than 1 where other processes took the core: the figures above are that much too low.
        "core_share": round(share, 2),
        "frames": FRAMES,
        "joints": len(problem.track.skeleton.names),
        "descriptors": DESCRIPTORS,
        "descriptors_bound": len(bound[0][1].points),
        "quads": sum(len(mesh.triangles) for mesh in problem.before) // 2,
    }
    return about, {key: float(f"{value:.4g}") for key, value in figures.items()}


def machine() -> dict:
    """Where it runs."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "blas_threads": 1,
        "load_average": round(os.getloadavg()[0], 2),
    }


def bake_figures() -> dict[str, float]:
    """bake_s and bake_vs_nla by benchmarks/bake.py, in a process of its own: bpy takes over the one it is in."""
    script = Path(__file__).with_name("bake.py")
    done = subprocess.run([sys.executable, str(script), "--json"], capture_output=True, text=True)
    if done.returncode:
        reason = (done.stderr.strip() or "no message").splitlines()[-1]
        raise BakeError(f"benchmarks/bake.py ended with code {done.returncode}: {reason}")
    figures = json.loads(done.stdout.strip().splitlines()[-1])["figures"]
    return {key: figures[key] for key in ("bake_s", "bake_vs_nla")}


def cut(mesh: MeshTrack, pieces: int) -> MeshTrack:
    """A still mesh with every triangle cut into pieces^2 like ones, welded where they meet."""
    steps = [(i, j) for i in range(pieces + 1) for j in range(pieces + 1 - i)]
    number = {step: k for k, step in enumerate(steps)}
    weights = np.array([(pieces - i - j, i, j) for i, j in steps]) / pieces
    upright = [(number[i, j], number[i + 1, j], number[i, j + 1]) for i, j in steps if i + j < pieces]
    turned = [
        (number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]) for i, j in steps if i + j < pieces - 1
    ]
    vertices = np.einsum("wk,tkc->twc", weights, mesh.vertices[0][mesh.triangles]).reshape(-1, 3)
    base = np.arange(len(mesh.triangles))[:, None, None] * len(steps)
    triangles = (base + np.array(upright + turned)).reshape(-1, 3)
    _, first, welded = np.unique(np.rint(vertices * 1e6), axis=0, return_index=True, return_inverse=True)
    return MeshTrack(mesh.name, vertices[first][None], welded.reshape(-1)[triangles])


def _with_head_tip(track: JointTrack) -> JointTrack:
    """With a joint above the head, in line with the neck."""
    names, parents = track.skeleton.names, track.skeleton.parents
    head, neck = names.index("Head"), names.index("Neck")
    way = track.positions[:, head] - track.positions[:, neck]
    tip = track.positions[:, head] + HEAD_TIP * way / np.linalg.norm(way, axis=1, keepdims=True)
    skeleton = Skeleton((*names, "HeadTip"), np.append(parents, head))
    return JointTrack(skeleton, np.concatenate((track.positions, tip[:, None]), axis=1), track.fps, track.frames)


def _more_frames(problem, few):
    """The same climb in a quarter, half and all of its frames."""
    half = _every(problem, 2)
    return [(len(p.track.positions), p) for p in (few, half, problem)]


def _more_joints(problem, few):
    """Every bone in one, two and four pieces, over a quarter of the frames."""
    yield len(few.track.skeleton.names), few
    for pieces in (2, 4):
        track, place = cut_bones(few.track, pieces)
        effectors = np.zeros(len(track.skeleton.names), bool)
        effectors[place] = problem.effectors
        finer = replace(few, track=track, effectors=effectors)
        finer.keep(finer.bind())
        yield len(track.skeleton.names), finer


def _more_descriptors(problem, few):
    """One, two and four times the descriptors, over a quarter of the frames."""
    yield len(few.binding.points), few
    rng = np.random.default_rng(0)
    points = few.binding.points
    for times in (2, 4):
        # Elsewhere on the same triangles: as near to the body as the ones that are there.
        more = DescriptorPoints(
            np.tile(points.object_index, times),
            np.tile(points.triangle, times),
            np.concatenate((points.barycentric, rng.dirichlet((1.0, 1.0, 1.0), len(points) * (times - 1)))),
        )
        yield len(more), replace(few, binding=few.with_points(few.binding, more))


def _every(problem, step):
    smaller = replace(problem, track=edits.sub_clip(problem.track, 0, FRAMES, step))
    smaller.keep(smaller.bind())
    return smaller


def cut_bones(track: JointTrack, pieces: int) -> tuple[JointTrack, np.ndarray]:
    """Every bone in equal pieces; also the new number (J,) of each joint."""
    names, parents, positions = [], [], []
    place = np.zeros(len(track.skeleton.names), int)
    for joint, (name, parent) in enumerate(zip(track.skeleton.names, track.skeleton.parents, strict=True)):
        up = place[parent] if parent >= 0 else -1
        for piece in range(1 if parent >= 0 else pieces, pieces + 1):
            share = piece / pieces
            names.append(name if piece == pieces else f"{name}.{piece}")
            parents.append(up)
            start = track.positions[:, max(parent, 0)]
            positions.append(track.positions[:, joint] * share + start * (1 - share))
            up = len(names) - 1
        place[joint] = up
    skeleton = Skeleton(tuple(names), np.array(parents))
    return JointTrack(skeleton, np.stack(positions, axis=1), track.fps, track.frames), place


def _growth(name: str, problems) -> dict[str, float]:
    """Seconds at each size, both passes of collision in, and the exponent of the power law through them."""
    found = [(size, _median(lambda p=p: p.adapt(collision=True), 1)) for size, p in problems]
    slope = np.polyfit(*np.log(np.array(found)).T, 1)[0]
    return {f"seconds_{size}_{name}": seconds for size, seconds in found} | {f"exponent_{name}": float(slope)}


def _chosen(points: DescriptorPoints, count: int) -> DescriptorPoints:
    rows = evenly_spaced_indices(len(points), count)
    return DescriptorPoints(points.object_index[rows], points.triangle[rows], points.barycentric[rows])


def _median(call: Callable, rounds: int = ROUNDS) -> float:
    return statistics.median(_timed(call)[0] for _ in range(rounds))


def _timed(call: Callable) -> tuple[float, object]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")
