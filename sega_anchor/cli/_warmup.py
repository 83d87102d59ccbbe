"""``sega-anchor warmup``: compile all kernels ahead, for images and clusters."""

from __future__ import annotations

import time
from typing import get_args

import torch
from jsonargparse import ArgumentParser, Namespace

from .._kernels.warmup import use_all
from ..trees._kernels import cache_folders
from ..trees.build import TreeMethod, build_coding_tree


def add_arguments(parser: ArgumentParser) -> None:
    """Give the parser the arguments of ``sega-anchor warmup``: none."""


def run(chosen: Namespace) -> None:
    """Use every kernel once; say how long that took and where they are kept."""
    path = torch.tensor([[0, 1], [1, 2]])
    for method in get_args(TreeMethod):
        begin = time.perf_counter()
        build_coding_tree(path, method=method)
        _say(f"trees, method {method}", begin)
    begin = time.perf_counter()
    use_all()
    _say("batches", begin)
    print("Compiled kernels are kept in", *cache_folders(), sep="\n  ")


def _say(what: str, begin: float) -> None:
    print(f"{what}: {time.perf_counter() - begin:.1f} s", flush=True)
