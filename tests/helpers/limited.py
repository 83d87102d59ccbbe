"""Trees built in another process, which can be stopped: a kernel heeds no signal."""

from __future__ import annotations

import multiprocessing
from typing import Any

import torch
from torch import Tensor

from sega_anchor import CodingTree, build_coding_tree

SECONDS = 30.0  # for one tree; the machine may be busy


def _parts(
    edge_index: Tensor, n: int, weight: Tensor | None, height: int, method: Any
) -> tuple[Any, Any]:
    tree = build_coding_tree(edge_index, n, weight, height=height, method=method)
    return tree.parent.numpy(), tree.level.numpy()


class LimitedBuilder:
    """``build_coding_tree`` that fails where it takes too long."""

    def __init__(self) -> None:
        self._pool: Any = None

    def __call__(
        self,
        edge_index: Tensor,
        n: int,
        weight: Tensor | None = None,
        height: int = 3,
        method: str = "refined",
    ) -> CodingTree:
        if self._pool is None:
            self._pool = multiprocessing.get_context("spawn").Pool(1)
            for name in ("refined", "authors", "paper"):  # compiled without a limit
                self._pool.apply(_parts, (edge_index[:, :0], 1, None, 2, name))
        given = edge_index, n, weight, height, method
        try:
            parts = self._pool.apply_async(_parts, given).get(SECONDS)
        except multiprocessing.TimeoutError:
            self.close()
            raise AssertionError(
                f"no {method} tree of height {height} after {SECONDS} s: {given}"
            ) from None
        return CodingTree(*map(torch.from_numpy, parts))

    def close(self) -> None:
        """End the process."""
        if self._pool is not None:
            self._pool.terminate()
            self._pool.join()
            self._pool = None
