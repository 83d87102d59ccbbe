"""load: graph classification sets by name, from local archives or a download."""

import difflib
import re
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

from torch_geometric.data import InMemoryDataset
from torch_geometric.datasets import TUDataset

from ...utils.files import check_writable, is_intact
from .._files import ARCHIVES, DATA_REMEDY, AnyPath, archive_folder, data_root, download
from ..synthetic import named_synthetic
from ._archive import extract_archive, is_complete
from ._raw import process_raw

TU_NAMES = (
    "NCI1",
    "PROTEINS",
    "DD",
    "MUTAG",
    "COLLAB",
    "REDDIT-BINARY",
    "REDDIT-MULTI-5K",
    "IMDB-BINARY",
    "IMDB-MULTI",
    "github_stargazers",
)
"""The TU sets of the paper's tables; the last one is GITHUB there."""

#: What the paper's tables call a set that has another name in the collection.
_OTHER_NAMES = {"GITHUB": "github_stargazers"}
_SYNTHETIC = "synthetic"


def load(
    name: str,
    *,
    root: AnyPath | None = None,
    archives: AnyPath | None = None,
    use_node_attr: bool = False,
) -> InMemoryDataset:
    """Load a graph classification set by name.

    ``"synthetic"`` gives :class:`.SyntheticCommunities`, which needs no files, and
    ``"synthetic-depth-2"``, ``"synthetic-strength-0.5"`` or ``"synthetic-size-12"`` the
    same with one knob turned. Other names are TU sets, which PyG's ``TUDataset`` reads
    from ``ROOT/NAME``. A set that is not there yet is extracted from ``NAME.zip`` in
    the archives, or else downloaded. Sets without node labels (COLLAB, REDDIT, IMDB)
    have no ``x``.

    Args:
        name: ``"synthetic"`` or one of its family, one of :data:`TU_NAMES` (or
            ``"GITHUB"``, which is the last of them), or another TU set whose archive or
            raw files are available locally.
        root: folder in which sets are extracted and cached. Default: the environment
            variable ``SEGA_ANCHOR_DATA``, else ``~/.cache/sega_anchor``.
        archives: folder of archives ``NAME.zip``, each holding ``NAME/*.txt`` in the
            raw TUDataset format. Default: the environment variable
            ``SEGA_ANCHOR_ARCHIVES``, else none.
        use_node_attr: put continuous node attributes, if the set has any, before the
            one-hot node labels in ``x``. Both settings share one cache.

    Returns:
        The data set, with a label ``y`` ``(1,)`` in every graph.

    Raises:
        ValueError: if the name is unknown, the archives folder does not exist, the
            archive is corrupt or incomplete or unpacks to absurd sizes, the root cannot
            be written, or the download fails.

    Source: Morris et al., "TUDataset" (2020); the paper's appendix C.

    Example:
        >>> load("synthetic")
        SyntheticCommunities(num_graphs=300, seed=0)
        >>> load("synthetic-depth-2")
        SyntheticCommunities(num_graphs=300, seed=0, depth=2)
        >>> load("MUTAGG")
        Traceback (most recent call last):
        ValueError: unknown data set 'MUTAGG'; did you mean 'MUTAG'? ...
    """
    if name.split("-")[0] == _SYNTHETIC:
        return named_synthetic(name)
    name = _OTHER_NAMES.get(name, name)
    folder = archive_folder(archives)
    home = data_root(root)
    _prepare(name, home / name, folder)
    try:
        return TUDataset(str(home), name, use_node_attr=use_node_attr)
    except Exception as error:  # torch's reader may raise almost anything
        folder = home / name / "processed"
        raise ValueError(
            f"{str(folder)!r} cannot be read ({type(error).__name__}): delete it, and "
            "it is made again"
        ) from error


def is_local(
    name: str, *, root: AnyPath | None = None, archives: AnyPath | None = None
) -> bool:
    """Return whether :func:`load` finds a set without a download.

    Arguments are those of :func:`load`.

    Example:
        >>> is_local("synthetic")
        True
    """
    name = _OTHER_NAMES.get(name, name)
    if name.split("-")[0] == _SYNTHETIC or is_complete(
        data_root(root) / name / "raw", name
    ):
        return True
    folder = archive_folder(archives)
    return folder is not None and (folder / f"{name}.zip").is_file()


def _prepare(name: str, home: Path, folder: Path | None) -> None:
    """Create the files in ``home`` that ``TUDataset`` loads."""
    raw = home / "raw"
    archive = folder / f"{name}.zip" if folder else None
    if archive is not None and not archive.is_file():
        archive = None
    # The name becomes part of paths, so it must not contain separators.
    plain = re.fullmatch(r"\w[\w.+-]*", name, flags=re.ASCII) is not None
    available = plain and (archive is not None or is_complete(raw, name))
    if name not in TU_NAMES and not available:
        raise ValueError(_unknown(name, folder))
    processed = home / "processed" / "data.pt"
    is_damaged = processed.is_file() and not is_intact(processed)
    if is_complete(raw, name) and processed.is_file() and not is_damaged:
        return
    if is_damaged:
        warnings.warn(f"{processed} is damaged and made again", stacklevel=4)
    for place in (home, processed.parent):  # what a kill has left goes from both
        check_writable(place, "the data folder", DATA_REMEDY)
    # TUDataset's own reader needs far more memory and has no progress bar.
    process = partial(process_raw, name=name, target=processed)
    if is_complete(raw, name):
        process(raw)
    elif archive is None:
        _fetch(name, raw, process)
    else:
        extract_archive(archive, name, raw, process)


def _unknown(name: str, folder: Path | None) -> str:
    """Return the message for a name that is neither known nor available."""
    local = [] if folder is None else [path.stem for path in folder.glob("*.zip")]
    known = [_SYNTHETIC, *TU_NAMES, *_OTHER_NAMES]
    names = {one.lower(): one for one in (*known, *local)}
    close = [names[n] for n in difflib.get_close_matches(name.lower(), list(names))]
    guess = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
    return (
        f"unknown data set {name!r}; {guess}Known: {', '.join(known)}. For any other "
        f"TU set put NAME.zip in a folder and give it with --archives DIR or {ARCHIVES}"
    )


def _fetch(name: str, raw: Path, process: Callable[[Path], None]) -> None:
    """Download the archive of a set and extract it."""
    with tempfile.TemporaryDirectory() as temporary:
        archive = Path(temporary, f"{name}.zip")
        download(name, f"{TUDataset.url}/{name}.zip", archive)
        extract_archive(archive, name, raw, process)
