"""The workflows that move a mesh, for what holds for each of them."""

import pytest

from tests.map_play import MAP
from tests.transfer_play import TRANSFER


@pytest.fixture(params=(MAP, TRANSFER), ids=lambda play: play.workflow)
def play(request):
    """How a user works with one of them."""
    return request.param


@pytest.fixture
def ready(play):
    """Its target, ready to go live."""
    return play.add_ready()


@pytest.fixture
def ob(play):
    """Its target, live."""
    return play.add_live()
