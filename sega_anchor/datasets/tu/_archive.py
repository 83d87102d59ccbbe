"""extract_archive: the raw files of a TU data set from a zip archive."""

import lzma
import os
import tempfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from .._files import byte_bar

REQUIRED = ("A", "graph_indicator", "graph_labels")
OPTIONAL = (
    "node_labels",
    "node_attributes",
    "edge_labels",
    "edge_attributes",
    "graph_attributes",
)
_CORRUPT = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,  # an unknown compression method
    RuntimeError,  # an encrypted member
)
_CHUNK = 1 << 20


def is_complete(folder: Path, name: str) -> bool:
    """Return whether a folder holds the required raw files of a set."""
    return all((folder / f"{name}_{kind}.txt").is_file() for kind in REQUIRED)


def extract_archive(archive: Path, name: str, folder: Path) -> None:
    """Extract the raw files ``NAME_*.txt`` of a TU archive into a folder.

    Only the standard files are extracted, from any folder of the archive, and written
    under their base names, so no member can be written elsewhere. All files are moved
    into ``folder`` together, which is then either complete or unchanged.

    Args:
        archive: a zip file in the TUDataset layout, usually ``NAME/NAME_*.txt``.
        name: name of the data set.
        folder: where the files go; must be missing or empty.

    Raises:
        ValueError: if the archive is corrupt or lacks one of the files ``_A``,
            ``_graph_indicator``, ``_graph_labels``, or ``folder`` holds other files.

    Example:
        >>> with tempfile.TemporaryDirectory() as temporary:
        ...     archive, folder = Path(temporary, "TOY.zip"), Path(temporary, "raw")
        ...     with zipfile.ZipFile(archive, "w") as file:
        ...         for kind in REQUIRED:
        ...             file.writestr(f"TOY/TOY_{kind}.txt", "1")
        ...     extract_archive(archive, "TOY", folder)
        ...     is_complete(folder, "TOY")
        True
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(
            f"the folder {str(folder)!r} holds files but not the complete set "
            f"{name!r}; remove it and load again"
        )
    try:
        with zipfile.ZipFile(archive) as file:
            members = _members(file, name, archive)
            _extract(file, members, name, folder)
    except _CORRUPT as error:
        raise ValueError(
            f"the archive {str(archive)!r} cannot be read ({error}); replace it by an "
            f"intact copy"
        ) from error


def _members(
    file: zipfile.ZipFile, name: str, archive: Path
) -> dict[str, zipfile.ZipInfo]:
    """Return the members to extract, by their base names."""
    wanted = {f"{name}_{kind}.txt" for kind in (*REQUIRED, *OPTIONAL)}
    members: dict[str, zipfile.ZipInfo] = {}
    for member in file.infolist():
        base = PurePosixPath(member.filename.replace("\\", "/")).name
        if base not in wanted or member.is_dir():
            continue
        if base in members:
            raise ValueError(
                f"the archive {str(archive)!r} holds {base!r} twice; pack it again "
                f"with one copy of each file"
            )
        members[base] = member
    absent = [f for kind in REQUIRED if (f := f"{name}_{kind}.txt") not in members]
    if absent:
        raise ValueError(
            f"the archive {str(archive)!r} lacks {', '.join(absent)}; it must hold "
            f"{name}/*.txt in the raw TUDataset format"
        )
    return members


def _extract(
    file: zipfile.ZipFile,
    members: dict[str, zipfile.ZipInfo],
    name: str,
    folder: Path,
) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    total = sum(member.file_size for member in members.values())
    with (
        tempfile.TemporaryDirectory(prefix=".raw-", dir=folder.parent) as temporary,
        byte_bar(f"Extracting {name}", total) as bar,
    ):
        fresh = Path(temporary, "raw")
        fresh.mkdir()
        for base, member in members.items():
            with file.open(member) as source, (fresh / base).open("wb") as target:
                while block := source.read(_CHUNK):
                    target.write(block)
                    bar.update(len(block))
        _move(fresh, folder, name)


def _move(fresh: Path, folder: Path, name: str) -> None:
    """Move the finished folder into place, unless another process was faster."""
    try:
        if folder.is_dir():
            folder.rmdir()  # empty, but some systems cannot replace it
        os.replace(fresh, folder)
    except OSError:
        if not is_complete(folder, name):
            raise
