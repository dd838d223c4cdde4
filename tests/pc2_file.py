"""PC2 files as another program reads them."""

import numpy as np

_HEADER = np.dtype([("magic", "S12"), ("version", "<i4"), ("points", "<i4"), ("start", "<f4"), ("rate", "<f4"),
                    ("samples", "<i4")])  # fmt: skip


def read(path):
    """Header, and points (F, V, 3), of a whole file of the one version that there is."""
    data = path.read_bytes()
    head = np.frombuffer(data, _HEADER, 1)[0]
    assert head["magic"] == b"POINTCACHE2" and head["version"] == 1
    return head, np.frombuffer(data, "<f4", offset=_HEADER.itemsize).reshape(head["samples"], head["points"], 3)
