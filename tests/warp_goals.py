"""Goals of a warp with other terms, and what they ask for."""

from dataclasses import replace

from solvers.warp.energy import Goals, Term
from solvers.warp.terms import Bend, Facing, Targets


def term_of(goals: Goals, kind: type) -> Term:
    """The goals' only term of a class."""
    (found,) = (term for term in goals.terms if isinstance(term, kind))
    return found


def with_terms(goals: Goals, *terms: Term) -> Goals:
    """The goals with some terms in place of those of the same class, or besides the others."""
    kept = tuple(term for term in goals.terms if type(term) not in {type(new) for new in terms})
    return replace(goals, terms=(*kept, *terms))


def with_targets(goals: Goals, places) -> Goals:
    """The goals with targets (J, 3, F) elsewhere."""
    return with_terms(goals, replace(term_of(goals, Targets), places=places))


def scaled(goals: Goals, size: float) -> Goals:
    """What the same goals are for a body that is larger by a factor."""
    targets, bend, facing = (term_of(goals, kind) for kind in (Targets, Bend, Facing))
    larger = with_terms(
        goals,
        replace(targets, places=size * targets.places),
        replace(bend, weight=size**2 * bend.weight),
        replace(facing, weight=size**2 * facing.weight),
    )
    return replace(larger, offsets=size * goals.offsets)
