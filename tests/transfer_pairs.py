"""Pairs of poses of captured bodies, for tests and benchmarks of Transfer; people's were marked by looking at them."""

import numpy as np

from benchmarks.camel_gallop import FRAMES, camel_gallop, horse_camel_markers
from benchmarks.datasets import data_file
from benchmarks.mesh_sequences import mesh_sequence

# Frames of human_samba and of human_crane. She stands, steps forward with her left foot, draws it back, and then the
# right one; her left arm rises twice. He stands, and takes three steps, right, left, right, each with the knee lifted
# high and both arms raised: of these only the second and third have an answer in her dance, so the standing and the
# stepping are two pairs of clips. (0, 0) and (9, 18) in one would pair her standing still with all of his first step.
SAMBA_CRANE_STANDING = np.array(
    (
        (0, 0),  # both stand, arms at their sides
        (7, 6),  # both still stand; their hands begin to rise after it
    )
)
SAMBA_CRANE_STEPPING = np.array(
    (
        (11, 18),  # both feet down, arms low, the left heel is about to leave the ground
        (15, 24),  # the left leg at its farthest: her foot ahead on its ball, his knee highest
        (20, 29),  # the left foot on the ground ahead, weight about to come over it, the left arm past its highest
        (27, 36),  # the right leg is the one ahead now, arms on their way out
        (30, 39),  # the right foot still ahead, in the last frame before it goes back (hers) or down (his)
    )
)


def up(vertices: np.ndarray) -> np.ndarray:
    """Y up to Z up."""
    return vertices[..., [0, 2, 1]] * [1, -1, 1]


def person(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (40, V, 3), Z up, and triangles of "human_samba" or "human_crane"."""
    vertices, triangles = mesh_sequence(name)
    return up(vertices), triangles


def cat_and_lion() -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]:
    """Cat and lion, each vertices (9, V, 3), Z up, and triangles; pairs (9, 2), since poses of one number are the same
    pose; and markers (M, 2), vertices of one and the other that answer to each other."""
    cat, lion = (mesh_sequence(f"{name}_poses") for name in ("cat", "lion"))
    markers = []
    for line in data_file("mesh_seq/markers-cat-lion.yml").read_text().partition("markers:")[2].splitlines():
        if '"' in line:
            markers.append([int(number) for number in line.split('"')[1].split(":")])
    pairs = np.repeat(np.arange(len(cat[0]))[:, None], 2, axis=1)
    return (up(cat[0]), cat[1]), (up(lion[0]), lion[1]), pairs, np.array(markers)


def horse_and_camel() -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]:
    """A gallop of a horse and of a camel, which is synthetic, one cycle; pairs (24, 2) of all frames; and markers."""
    vertices, triangles = mesh_sequence("horse_gallop")
    pairs = np.repeat(np.arange(FRAMES)[:, None], 2, axis=1)
    return (up(vertices[:FRAMES]), triangles), camel_gallop(), pairs, horse_camel_markers()
