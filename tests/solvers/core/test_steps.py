"""Work in steps."""

from solvers.core.steps import result_of, within


def work(count, result):
    for number in range(count):
        yield number / count
    return result


def test_the_result_at_the_end():
    assert result_of(work(3, "done")) == "done" and result_of(work(0, None)) is None


def test_a_part_lies_between_its_ends_and_returns_its_result():
    def whole():
        first = yield from within(work(2, "one"), 0.0, 0.5)
        second = yield from within(work(4, "two"), 0.5, 1.0)
        return first, second

    assert list(whole()) == [0.0, 0.25, 0.5, 0.625, 0.75, 0.875]
    assert result_of(whole()) == ("one", "two")
