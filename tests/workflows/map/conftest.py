"""Worm, as most tests of Map find it."""

import pytest

from tests import map_play


@pytest.fixture
def ob():
    """The target, live."""
    return map_play.add_live()


@pytest.fixture
def settings(ob):
    return ob.motion_loom_map
