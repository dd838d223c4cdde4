"""Commands as the command line runs them, in the present file."""

import json

from bl_ext.devrepo.motion_loom import jobs


def run(capsys, *words):
    """A command that must succeed; returns its report."""
    code = jobs.main([*words, "--json"])
    seen = capsys.readouterr()
    assert code == 0, seen.err
    return json.loads(seen.out.splitlines()[-1])


def refused(capsys, *words, code=1):
    """The reason why a command fails, without a traceback."""
    assert jobs.main(list(words)) == code
    reason = capsys.readouterr().err
    assert "Traceback" not in reason
    return reason


def bind(capsys, *words):
    return run(capsys, "bind", "--rig", "Rig", "--environment", "Floor", "Step", *words)


def adapt(capsys, *words):
    return run(capsys, "adapt", "--rig", "Rig", *words)
