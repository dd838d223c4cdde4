"""What is said of a stream: by name, the first few, and how many more."""

from streams.counts import MAX_KINDS, OTHERS, Counts
from streams.remarks import remarks


def test_nothing_is_said_of_a_sound_stream():
    assert remarks(Counts(received=9, frames=9)) == ()


def test_what_was_guessed_comes_first_by_name():
    counts = Counts(laid=("Jaw", "LeftEye", "RightEye", "Hips"), unsent=("Spine",), untracked={"LeftHand": 7})
    counts.ignore("/VMC/Ext/Blend/Val")
    assert remarks(counts) == (
        "Without a position, and placed as on a standard body: Jaw, LeftEye, RightEye and 1 more",
        "Not sent, so that bones below are placed on the nearest one above: Spine",
        "Sent with the quaternion 0 0 0 0, taken as no rotation: LeftHand (7)",
        "Ignored messages: /VMC/Ext/Blend/Val (1)",
    )
    counts.all_laid = True
    assert remarks(counts)[0] == "Positions are missing: rotations are shown on a standard body 1.7 m high"


def test_the_most_frequent_are_named_and_a_flood_of_kinds_is_not_kept():
    counts = Counts()
    for k in range(MAX_KINDS + 10):
        counts.drop(f"/a/{k}", "of no use", times=k + 1)
    assert len(counts.dropped_by) == MAX_KINDS + 1
    assert counts.dropped_by[OTHERS] == sum(range(MAX_KINDS + 1, MAX_KINDS + 11))
    last = MAX_KINDS - 1
    first = ", ".join(f"/a/{k}: of no use ({k + 1})" for k in (last, last - 1, last - 2))
    assert remarks(counts) == (f"Left out: {first} and {MAX_KINDS - 2} more",)


def test_a_copy_stays_as_it_was():
    counts = Counts()
    counts.ignore("/a")
    before = counts.copy()
    counts.ignore("/a")
    counts.drop(None, "a bundle that is cut off")
    assert (before.ignored, before.ignored_by, before.dropped_by) == (1, {"/a": 1}, {})
