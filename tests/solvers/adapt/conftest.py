"""A motion that needs no captures."""

import pytest

from tests.adapt_bound import made


@pytest.fixture(scope="session")
def made_walk():
    """A walk onto a step between two boxes, bound."""
    return made()
