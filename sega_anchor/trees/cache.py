"""TreeCache: a folder of coding trees, keyed by the content of their graphs."""

import hashlib
import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from ..utils.files import check_writable, write_atomically
from . import build
from ._kernels import Ints


class Trees(NamedTuple):
    """Many trees, concatenated, as :func:`.build.build_arrays` returns them."""

    parent: Ints  # numbered within each tree
    level: Ints
    tree_ptr: Ints  # (num_trees + 1,), where the nodes of each tree begin


def content_key(graphs: Iterable[NDArray[Any]], height: int, method: str) -> str:
    """Return the key of the trees of these graphs: equal input, equal key.

    Args:
        graphs: the arrays that :func:`.build.build_arrays` takes.
        height: level of the roots.
        method: how the trees are built.

    Example:
        >>> graph = [np.array([[0], [1]]), np.array([0, 1]), np.array([2]), np.empty(0)]
        >>> key = content_key(graph, 3, "paper")
        >>> key.startswith("paper-3-"), key == content_key(graph, 4, "paper")
        (True, False)
    """
    words = f"{build.BUILDER_VERSION} {method} {height}"
    return f"{method}-{height}-{_digest(words, graphs).hex()}"


class TreeCache:
    """Trees kept in a folder that any number of processes may share.

    Files are written atomically, and one is used only if its checksum is right and it
    holds trees of these graphs. The folder may be emptied at any time.

    Args:
        folder: made if it does not exist.

    Raises:
        ValueError: if the folder cannot be written.

    Example:
        >>> graph = [np.array([[0], [1]]), np.array([0, 1]), np.array([2]), np.empty(0)]
        >>> trees = Trees(*build.build_arrays(*graph, height=2, method="paper"))
        >>> key = content_key(graph, 2, "paper")
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     cache = TreeCache(folder)
        ...     cache.store(key, trees)
        ...     cache.load(key, sizes=np.array([2]), height=2).parent
        array([ 2,  3,  4,  4, -1])
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).expanduser()
        self._gave_up = False
        remedy = "give another one, or cache=None to build without"
        check_writable(self.folder, "the cache folder", remedy)

    def load(self, key: str, sizes: Ints, height: int) -> Trees | None:
        """Return the trees kept under a key, or None; warn if the file is damaged.

        Args:
            key: from :func:`content_key`.
            sizes: ``(num_graphs,)``, the number of vertices of each graph.
            height: level of the roots.
        """
        path = self._path(key)
        try:
            return _read(path.read_bytes(), key, sizes, height)
        except FileNotFoundError:
            return None
        except (OSError, SafetensorError, KeyError, ValueError) as error:
            warnings.warn(
                # Cut, since it may quote a header of any size.
                f"the cached trees in {str(path)!r} cannot be used "
                f"({str(error)[:200]}); they are built again",
                stacklevel=2,
            )
            return None

    def store(self, key: str, trees: Trees) -> None:
        """Keep trees under a key; if that fails, warn once and keep no others."""
        if self._gave_up:
            return
        parts = {name: _narrow(part) for name, part in trees._asdict().items()}
        seal = np.frombuffer(_digest(key, parts.values()), np.uint8)
        path = self._path(key)
        try:
            # Not synced: a file half written at a power cut fails its checksum.
            write_atomically(path, save({**parts, "seal": seal}), sync=False)
        except OSError as error:
            self._gave_up = True
            warnings.warn(
                f"trees can no longer be kept in {str(self.folder)!r} ({error}); they "
                "are built all the same: free the disk before the next run",
                stacklevel=2,
            )

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.safetensors"


def _read(content: bytes, key: str, sizes: Ints, height: int) -> Trees:
    parts = load(content)
    seal = parts.pop("seal").tobytes()
    if seal != _digest(key, (parts[name] for name in Trees._fields)):
        raise ValueError("its checksum is wrong")
    trees = Trees(*(parts[name].astype(np.int64) for name in Trees._fields))
    if not _fit(trees, sizes, height):
        raise ValueError("it does not hold the trees of these graphs")
    return trees


def _fit(trees: Trees, sizes: Ints, height: int) -> bool:
    """Return whether these are trees of that height on graphs of those sizes."""
    parent, level, tree_ptr = trees
    nodes = np.diff(tree_ptr)
    if (
        any(part.ndim != 1 for part in trees)
        or parent.shape != level.shape
        or nodes.shape != sizes.shape
        or tree_ptr[0] != 0
        or tree_ptr[-1] != parent.size
        or (nodes <= sizes).any()
    ):
        return False
    begin, end = np.repeat(tree_ptr[:-1], nodes), np.repeat(tree_ptr[1:], nodes)
    place = np.arange(parent.size)
    root = place == end - 1
    above = np.where(root, place, begin + parent)
    if (parent[root] != -1).any() or ((above <= place) & ~root | (above >= end)).any():
        return False
    leaf = place < begin + np.repeat(sizes, nodes)
    has_children = np.bincount(above[~root], minlength=place.size) > 0
    return bool(
        ((level == 0) == leaf).all()
        and (has_children != leaf).all()
        and (level[root] == height).all()
        and (level[above] == level + 1)[~root].all()
        and (np.diff(level) >= 0)[~root[:-1]].all()
    )


def _narrow(array: Ints) -> NDArray[Any]:
    """Return the numbers in the smallest integer type that holds them."""
    bounds = (np.min_scalar_type(int(n)) for n in (array.min(), array.max()))
    return array.astype(np.promote_types(*bounds))


def _digest(words: str, arrays: Iterable[NDArray[Any]]) -> bytes:
    digest = hashlib.blake2b(words.encode(), digest_size=20)
    for array in arrays:
        digest.update(f"|{array.dtype.str}{array.shape}|".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.digest()
