"""extract_archive: the raw files of a TU data set from a zip archive."""

import lzma
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from ...utils.files import temporary_folder
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
#: What text does not compress to: COLLAB is 35 times its archive, all noughts 1000.
_RATIO = 200
_LARGE = 1 << 30  # bytes that any archive may unpack to


def is_complete(folder: Path, name: str) -> bool:
    """Return whether a folder holds the required raw files of a set."""
    return all((folder / f"{name}_{kind}.txt").is_file() for kind in REQUIRED)


def extract_archive(
    archive: Path, name: str, folder: Path, check: Callable[[Path], None]
) -> None:
    """Extract the raw files ``NAME_*.txt`` of a TU archive into a folder.

    Only the standard files are extracted, from any folder of the archive, and written
    under their base names, so no member can be written elsewhere. All files are moved
    into ``folder`` together, which is then either complete or unchanged: an archive
    that is refused leaves nothing behind that would outlive its replacement.

    Args:
        archive: a zip file in the TUDataset layout, usually ``NAME/NAME_*.txt``.
        name: name of the data set.
        folder: where the files go; must be missing or empty.
        check: called with a folder of the files before they are moved; if it raises
            ValueError, they are not.

    Raises:
        ValueError: if the archive is corrupt, lacks one of the files ``_A``,
            ``_graph_indicator``, ``_graph_labels``, or would unpack to more than a
            gigabyte and 200 times its size, or ``folder`` holds other files.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as temporary:
        ...     archive, folder = Path(temporary, "TOY.zip"), Path(temporary, "raw")
        ...     with zipfile.ZipFile(archive, "w") as file:
        ...         for kind in REQUIRED:
        ...             file.writestr(f"TOY/TOY_{kind}.txt", "1")
        ...     extract_archive(archive, "TOY", folder, check=lambda raw: None)
        ...     is_complete(folder, "TOY")
        True
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(
            f"the folder {str(folder)!r} holds files but not the complete set "
            f"{name!r}; remove it and load again"
        )
    with temporary_folder(folder.parent, "raw") as temporary:
        fresh = temporary / "raw"
        try:
            with zipfile.ZipFile(archive) as file:
                _extract(file, _members(file, name, archive), name, fresh)
        except _CORRUPT as error:
            raise ValueError(
                f"the archive {str(archive)!r} cannot be read ({error}); replace it by "
                f"an intact copy"
            ) from error
        try:
            check(fresh)
        except ValueError as error:
            words = str(error).replace(str(fresh), str(archive))
            raise ValueError(words) from error
        except OSError:  # a full disk, say: the files are good, and came a long way
            _move(fresh, folder, name)
            raise
        _move(fresh, folder, name)


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
    size = sum(member.file_size for member in members.values())
    if size > max(_LARGE, _RATIO * archive.stat().st_size):
        raise ValueError(
            f"the archive {str(archive)!r} would unpack to {size / 1e9:.1f} GB, more "
            f"than {_RATIO} times its size; if that is right, unpack it by hand into "
            f"the folder {name}/raw of the data root"
        )
    return members


def _extract(
    file: zipfile.ZipFile,
    members: dict[str, zipfile.ZipInfo],
    name: str,
    fresh: Path,
) -> None:
    fresh.mkdir()
    total = sum(member.file_size for member in members.values())
    with byte_bar(f"Extracting {name}", total) as bar:
        for base, member in members.items():
            # It never gives more than the size that was checked.
            with file.open(member) as source, (fresh / base).open("wb") as target:
                while block := source.read(_CHUNK):
                    target.write(block)
                    bar.update(len(block))


def _move(fresh: Path, folder: Path, name: str) -> None:
    """Move the finished folder into place, unless another process was faster."""
    try:
        if folder.is_dir():
            folder.rmdir()  # empty, but some systems cannot replace it
        os.replace(fresh, folder)
    except OSError:
        if not is_complete(folder, name):
            raise
