"""The bendy body as a subject, learnt once from two dances; nothing changes it."""

import functools

from solvers.transfer.subject import learn_subject
from tests.bendy_bodies import NAMES, dance, memberships, performed, tube

VERTICES, TRIANGLES = tube()
MASKS = memberships(VERTICES)
CLIPS = [performed(VERTICES, dance(seed)) for seed in (1, 2)]


def learn(clips=CLIPS, masks=MASKS, names=NAMES, **options):
    return learn_subject(clips, TRIANGLES, masks, names, **options)


@functools.cache
def bendy_subject():
    return learn()
