"""The bendy body as a subject, learnt once from two dances; nothing changes it."""

import functools

from solvers.core.steps import result_of
from solvers.transfer.subject import Subject
from tests.bendy_bodies import NAMES, dance, memberships, performed, tube

VERTICES, TRIANGLES = tube()
MASKS = memberships(VERTICES)
CLIPS = [performed(VERTICES, dance(seed)) for seed in (1, 2)]


def learn_subject(*arguments, **options):
    return result_of(Subject.learn_steps(*arguments, **options))


def learn(clips=CLIPS, masks=MASKS, names=NAMES, **options):
    return learn_subject(clips, TRIANGLES, masks, names, **options)


@functools.cache
def bendy_subject():
    return learn()
