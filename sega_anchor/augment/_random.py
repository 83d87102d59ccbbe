"""Random draws for all graphs of a batch at once, and the check of ratios."""

from fractions import Fraction

import torch
from torch import Generator, Tensor


def check_ratio(ratio: float) -> None:
    """Raise ValueError unless the ratio is in [0, 1]."""
    if not 0 <= ratio <= 1:
        raise ValueError(f"ratio is {ratio!r}; give a share from 0 to 1, such as 0.2")


def part(ratio: float, count: Tensor) -> Tensor:
    """Return floor(ratio * count) without floating-point error.

    The ratio is taken as the nearest fraction with a denominator up to 10^6.

    Example:
        >>> part(0.29, torch.tensor([100, 99])), int(0.29 * 100)
        (tensor([29, 28]), 28)
    """
    share = Fraction(float(ratio)).limit_denominator(10**6)
    return count * share.numerator // share.denominator


def draw_below(limit: Tensor, generator: Generator | None) -> Tensor:
    """Draw an integer uniformly from 0 ... limit - 1 for each limit (0 for 0)."""
    device = limit.device if generator is None else generator.device
    draw = torch.randint(2**62, limit.shape, generator=generator, device=device)
    return draw.to(limit.device) % limit.clamp(min=1)


def sample(group: Tensor, take: Tensor, generator: Generator | None) -> Tensor:
    """Mark ``take[g]`` random members of each group g, without replacement.

    Sorts one random key per member.

    Args:
        group: group of each member, in any order, ``(num_members,)``.
        take: how many members of each group to mark, ``(num_groups,)``; a group with
            fewer members is marked whole.
        generator: source of randomness.

    Returns:
        Booleans, ``(num_members,)``.
    """
    key = group * 2**31 + draw_below(torch.full_like(group, 2**31), generator)
    order = key.argsort(stable=True)
    count = group.bincount(minlength=len(take))
    end = count.cumsum(0) - count + take
    taken = torch.arange(len(group), device=group.device) < end.repeat_interleave(count)
    return torch.zeros_like(taken).index_put((order,), taken)


def mark_first(value: Tensor) -> Tensor:
    """Mark the first entry of each value, for ``0 <= value < len(value)``.

    Example:
        >>> mark_first(torch.tensor([2, 0, 2, 1]))
        tensor([ True,  True, False,  True])
    """
    position = torch.arange(len(value), device=value.device)
    earliest = torch.full_like(position, len(value))
    earliest.scatter_reduce_(0, value, position, reduce="amin")
    return earliest[value] == position
