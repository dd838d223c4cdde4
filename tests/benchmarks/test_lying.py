"""The measures of lying and leaning."""

from dataclasses import replace

import pytest

from benchmarks import lying

pytestmark = pytest.mark.captures


def test_a_body_on_its_side_goes_with_its_half_of_the_bed():
    case = lying.cases()["side"]
    scene = case.build()
    binding = lying.bound(scene)
    found, _, _ = lying.row(scene, case, binding, "+10 cm")
    assert found["hips"] == found["chest"] == found["head"] == 100.0
    alone, _, _ = lying.row(scene, case, replace(binding, rests=None), "-20 cm")
    assert alone["hips"] < 100.0
    assert "| side | +10 cm | 100" in lying._page([lying._line("side", "+10 cm", case, found)])
