"""Which changes of which real scenes Adapt is judged on by its looks, and on which of them it may be tuned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .climbs import climb_staged, climb_walled
from .datasets import Scene
from .scenes import SCENES
from .walks import SLOPES, staged_walk, walk

SLOPE, HILLS, PLAIN, STRONG = "slope", "hills", "climb plain", "climb strong"
FLUSH, SEAT, TERRAIN, ANIMAL, PROP = "flush", "seat", "terrain", "animal", "prop"
KINDS = (SLOPE, HILLS, PLAIN, STRONG, FLUSH, SEAT, TERRAIN, ANIMAL, PROP)
DEVELOPMENT, HELD_OUT = "development", "held-out"


@dataclass(frozen=True)
class Row:
    """A scene, one of its edits, and the size of the character against the captured one."""

    scene: str
    edit: str
    kind: str
    size: float = 1.0

    @property
    def mark(self) -> str:
        return DEVELOPMENT if self.scene in _DEVELOPED_ON else HELD_OUT

    @property
    def name(self) -> str:
        return f"{self.scene} {self.edit}" + (f" x {self.size:g}" if self.size != 1.0 else "")


BUILDERS: dict[str, Callable[[], Scene]] = {
    **SCENES,
    **{name: lambda name=name: walk(name) for name in ("walker", "cmu_02_01", "pfnn_flat09")},
    **{name: lambda name=name: walk(name) for name in ("cmu_06_04", "giant_walk", "walk_left")},
    **{f"climb_{n}_walled": lambda n=n: climb_walled(n) for n in (0, 1)},
    **{f"climb_{n}_staged": lambda n=n: climb_staged(n) for n in (0, 1)},
    **{f"{name}_staged": lambda name=name: staged_walk(name, False) for name in ("walker", "cmu_02_01", "cmu_06_04")},
    **{f"{name}_half_staged": lambda name=name: staged_walk(name, True) for name in ("walker", "cmu_06_04")},
}
_DEVELOPED_ON = {"walker", "walker_staged", "walker_half_staged", "cmu_02_01", "cmu_02_01_staged", "pfnn_flat09"}
_DEVELOPED_ON |= {"walk_left", "climb_0", "climb_0_split", "climb_0_walled", "climb_0_staged", "cmu_01_06"}
_SLOPES = tuple(f"{way}_{degrees}" for way in ("up", "down", "across") for degrees in SLOPES)
_HILLS = ("hills", "stairs_up", "stairs_down")
_PLAIN = ("stretched", "lifted", "widened", "moved", "tilted")
_STRONG = ("set_turned_45", "set_turned_90", "pulled_apart", "run_together")
_SEATS = ("raised_10", "lowered_10", "seat_lifted", "seat_lowered", "moved", "tilted")
_TERRAIN = ("bent", "sloped", "exaggerated", "flattened", "moved")
_ANIMAL = ("bent", "sloped", "sloped_sideways", "steep", "steep_sideways")
_TABLE = (
    *((name, SLOPE, _SLOPES) for name in ("walker", "cmu_02_01", "pfnn_flat09")),
    *((name, SLOPE, _SLOPES) for name in ("cmu_06_04", "giant_walk", "walk_left")),
    *((name, HILLS, _HILLS) for name in ("walker", "cmu_02_01", "pfnn_flat09", "cmu_06_04", "giant_walk", "walk_left")),
    *((name, PLAIN, _PLAIN) for name in ("climb_0", "climb_1")),
    ("climb_0", STRONG, (*(f"lifted_50:Box{n}" for n in (1, 2, 3)), *_STRONG)),
    ("climb_0_split", STRONG, ("halves_pulled_apart", "halves_run_together")),
    ("climb_0_walled", STRONG, ("wall_pushed_in",)),
    ("climb_1", STRONG, (*(f"lifted_50:Box{n}" for n in (1, 2)), *_STRONG)),
    ("climb_1_gap", STRONG, ("widened", "moved_y", "tilted")),
    ("climb_1_walled", STRONG, ("wall_pushed_in",)),
    *((f"climb_{n}_staged", FLUSH, ("stage_raised", "all_raised")) for n in (0, 1)),
    *((name, FLUSH, ("stage_raised",)) for name in ("walker_staged", "walker_half_staged", "cmu_02_01_staged")),
    *((name, FLUSH, ("stage_raised",)) for name in ("cmu_06_04_staged", "cmu_06_04_half_staged")),
    *((name, SEAT, _SEATS) for name in ("cmu_01_06", "cmu_01_10")),
    ("barbarian", SEAT, ("raised_10", "lowered_10", "moved", "widened", "tilted")),
    *((name, TERRAIN, _TERRAIN) for name in ("cmu_03_01", "cmu_03_03")),
    *((name, ANIMAL, _ANIMAL) for name in ("horse", "husky", "fox")),
    ("walk_giant", PROP, ("beam_lowered", "posts_closer", "block_in_the_way", "ground_sloped", "all_moved")),
    ("mug", PROP, ("larger", "smaller", "moved")),
)
_SIZES = (1.0, 0.8, 1.2)


def rows(mark: str = "all", kinds: tuple[str, ...] = KINDS, scenes: tuple[str, ...] = ()) -> list[Row]:
    """Rows of a mark or "all", of some kinds, of some scenes or all; those of one scene come together."""
    found = [
        Row(scene, edit, kind, size)
        for scene, kind, edits in _TABLE
        for edit in edits
        for size in (_SIZES if kind == PLAIN else (1.0,))
    ]
    order = list(dict.fromkeys(row.scene for row in found))
    found.sort(key=lambda row: order.index(row.scene))
    return [
        row
        for row in found
        if mark in ("all", row.mark) and row.kind in kinds and (not scenes or row.scene in scenes)
    ]
