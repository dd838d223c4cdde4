"""What is stored comes back as it was, or is refused with the way out."""

import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.solvers.core.errors import StaleBindingError
from bl_ext.devrepo.motion_loom.workflows.core.stored_arrays import StoredKind, by_part, flattened, require_counts

pytestmark = pytest.mark.versions

KIND = StoredKind("example", 3, "poses", "read them again")


def test_parts_come_back_with_their_texts():
    parts = {
        "space": {"rest": np.arange(6.0), "edge": "soft", "names of": ["a", "b"]},
        "travel": {"weights stance": np.ones((2, 2))},
    }
    arrays, texts = flattened(parts, " ")
    assert all(array.dtype.kind != "U" for array in arrays.values())
    found = by_part(arrays | {"frames": np.arange(3)}, KIND.header(**texts), " ")
    assert set(found) == {"space", "travel", "frames"}
    for part, named in parts.items():
        assert set(found[part]) == set(named)
        for name, value in named.items():
            np.testing.assert_array_equal(found[part][name], value)


@pytest.mark.parametrize("change", [{"format": 2}, {"format": None}, {"workflow": "another"}])
def test_another_version_is_refused_with_the_way_out(change):
    with pytest.raises(StaleBindingError, match="The poses come from another version.*read them again"):
        with KIND.checked(KIND.header(fps=24.0) | change):
            pytest.fail("it was read")


def test_what_is_wrong_inside_is_told_in_words():
    with pytest.raises(StaleBindingError, match="The poses stored in the file are damaged.*read them again"):
        with KIND.checked(KIND.header()):
            raise KeyError("fps")


@pytest.mark.parametrize("count", [-1, 2.0, None, "2"])
def test_counts_are_whole_numbers(count):
    require_counts(0, 5)
    with pytest.raises(ValueError, match="whole number"):
        require_counts(count)
