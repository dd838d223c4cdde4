"""Hands that rest on their own body, on captures and a made sitter: near enough, and nearer than if nothing is held."""

import pytest

from benchmarks import datasets, self_contact
from benchmarks._self_contact_cases import CASES


def test_a_sitters_hands_stay_on_its_knees_as_the_seat_rises():
    found = self_contact.row("sitter", "raised_10")
    assert found.kept[0] == 100.0 and found.kept[1] < 50.0
    assert found.jump[0] < 0.5 and found.let_go == 0 and found.touching[0] == 100.0


@pytest.mark.captures
@pytest.mark.parametrize("case", ["pfnn:up_20", "walk-back:stairs_up"])
def test_captured_hands_stay_on_thighs_and_behind_backs(case):
    if datasets.data_folder() is None:
        pytest.skip("no captures: ../shared/data is not there")
    found = self_contact.row(*case.split(":"))
    assert found.kept[0] >= 95.0 > found.kept[1] and found.count > 50
    assert found.jump[0] <= found.jump[1] + 0.2 and found.touching[0] == found.touching[1]


def test_the_page_has_every_case():
    rows = [self_contact.Row(f"{name} x", case.mark, 1, *[(1.0, 2.0)] * 6, 0) for name, case in CASES.items()]
    page = self_contact.page(rows)
    assert all(self_contact.line(row) in page for row in rows)
