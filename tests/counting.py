"""How much Python a job runs: as much for a large input as for a small one where arrays do the work."""

import gc
import sys


def steps_of(job) -> int:
    """Lines that are run and calls that are made, into C too, by a job without arguments."""
    count = 0

    def line(_frame, event, _argument):
        nonlocal count
        count += event == "line"
        return line

    def call(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    # What other tests left would be counted where it happens to be collected.
    gc.collect()
    gc.disable()
    before = sys.gettrace(), sys.getprofile()
    sys.settrace(line)
    sys.setprofile(call)
    try:
        job()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
        gc.enable()
    return count
