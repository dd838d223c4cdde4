"""The picture of costs: right way up, the right size, with path, line and pairs."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.transfer.cost_picture import DEAR, PAIR, PATH, STRAIGHT, cost_picture
from tests.counting import steps_of


def drawn(picture, colour):
    """(rows, columns) of the pixels of that colour."""
    return np.nonzero((picture[..., :3] == np.float32(colour)).all(axis=-1))


def made(rows, columns):
    pairs = np.array([[0.0, 0.0], [rows * 0.4, columns * 0.6], [rows - 1.0, columns - 1.0]])
    line = np.interp(np.arange(rows), *pairs.T)
    path = np.stack((np.arange(rows), np.round(line**1.1 / (columns - 1) ** 0.1)), axis=1).astype(int)
    cost = np.abs(np.arange(columns) - path[:, 1:]) + 1.0
    return cost, path, line, pairs


@pytest.mark.parametrize("size", [(2, 3), (7, 40), (40, 40), (150, 90), (300, 500), (512, 10), (900, 700), (999, 3000)])
def test_size_and_kind(size):
    picture = cost_picture(*made(*size))
    assert picture.dtype == np.float32 and picture.shape[2] == 4
    assert 128 <= max(picture.shape[:2]) <= 512
    assert picture.shape[1] / picture.shape[0] == pytest.approx(size[0] / size[1], rel=0.2)
    assert picture.min() >= 0.0 and picture.max() <= 1.0 and (picture[..., 3] == 1.0).all()


def test_source_to_the_right_and_target_upward():
    """A path that hugs the source's axis, then climbs, is low on the left and high on the right."""
    pairs = np.array([[0.0, 0.0], [39.0, 19.0]])
    nodes = np.array([[0, 0], [30, 2], [39, 19]])
    picture = cost_picture(np.ones((40, 20)), nodes, np.interp(np.arange(40), *pairs.T), pairs)
    height, width = picture.shape[:2]
    assert (width, height) == (40 * 12, 20 * 12)
    rows, columns = drawn(picture, PATH)
    assert rows[columns < width // 2].max() < height * 0.2
    assert rows[columns > width * 0.9].max() > height * 0.8


def test_each_cost_is_a_square_by_rank():
    cost = np.arange(12.0).reshape(3, 4) ** 5
    plain = cost_picture(cost, np.array([[0, 0], [0, 1]]), np.zeros(1), np.zeros((1, 2)))
    side = plain.shape[1] // 3
    grid = plain[side // 8 :: side, side // 8 :: side]
    assert grid.shape[:2] == (4, 3)
    brightness = grid[..., :3].sum(axis=-1).T.ravel()[2:]
    assert (np.diff(brightness) > 0.0).all()
    assert grid[3, 2, 0] < DEAR[0]


def test_path_line_and_pairs_are_seen():
    """The line begins at the first whole row."""
    cost, path, line, pairs = made(100, 80)
    picture = cost_picture(cost, path, line, pairs)
    scale = picture.shape[1] // 100
    assert len(drawn(picture, PATH)[0]) > 300
    dashes = np.unique(drawn(picture, STRAIGHT)[1])
    assert 20 < len(dashes) < 0.8 * picture.shape[1]
    for source, target in pairs:
        at = int((target + 0.5) * scale), int((source + 0.5) * scale)
        np.testing.assert_array_equal(picture[at][:3], np.float32(PAIR))
    pairs = np.array([[10.5, 10.5], [90.0, 90.0]])
    picture = cost_picture(np.ones((100, 100)), pairs, np.interp(np.arange(11, 91), *pairs.T), pairs)
    vertical, across = drawn(picture, STRAIGHT)
    np.testing.assert_array_less(np.abs(vertical - across), 3)
    with pytest.raises(InputError, match="finite"):
        cost_picture(np.full((3, 3), np.nan), np.zeros((1, 2)), np.zeros(1), np.zeros((1, 2)))


def test_pixels_are_not_drawn_one_by_one():
    small, large = made(100, 100), made(300, 300)
    assert steps_of(lambda: cost_picture(*small)) == steps_of(lambda: cost_picture(*large))
