"""load_molecules: sets of MoleculeNet and other tables of SMILES and 0/1 labels."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor
from torch_geometric.data import Data

from ...utils.files import check_writable, temporary_folder
from ...utils.progress import progress_bar
from .._files import DATA_REMEDY, AnyPath, archive_folder, data_root, download
from .smiles import as_data, find_smiles_column, molecule_arrays, read_table

_URL = "https://deepchemdata.s3-us-west-1.amazonaws.com/datasets/"
_ARCHIVES = "SEGA_ANCHOR_MOLECULES"
_LABELS = {"": float("nan"), "0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0}


@dataclass(frozen=True)
class MoleculeSource:
    """The file of a MoleculeNet set and the columns of its table.

    Args:
        file: name of DeepChem's public copy.
        smiles: column of SMILES strings.
        tasks: columns of labels; default all but ``smiles`` and ``other``.
        other: columns that are not tasks.
    """

    file: str
    smiles: str = "smiles"
    tasks: tuple[str, ...] = ()
    other: tuple[str, ...] = ()

    @property
    def stem(self) -> str:
        """Name of the file without extensions."""
        return self.file.partition(".")[0]

    @property
    def url(self) -> str:
        """Address of the file."""
        return _URL + self.file


MOLECULENET = {
    "bbbp": MoleculeSource("BBBP.csv", tasks=("p_np",)),
    "tox21": MoleculeSource("tox21.csv.gz", other=("mol_id",)),
    "toxcast": MoleculeSource("toxcast_data.csv.gz"),
    "sider": MoleculeSource("sider.csv.gz"),
    "clintox": MoleculeSource("clintox.csv.gz", tasks=("FDA_APPROVED", "CT_TOX")),
    "muv": MoleculeSource("muv.csv.gz", other=("mol_id",)),
    "hiv": MoleculeSource("HIV.csv", tasks=("HIV_active",)),
    "bace": MoleculeSource("bace.csv", smiles="mol", tasks=("Class",)),
}
"""The eight sets on which the field fine-tunes, by name."""


@dataclass(frozen=True, eq=False)
class MoleculeSet:
    """Molecules with labels of binary tasks, some of which may be missing.

    Args:
        name: name of the set or of its file.
        smiles: SMILES strings of the N molecules, as in the file.
        graphs: their graphs, see :class:`.MoleculeArrays`, with labels ``y``
            ``(1, tasks)``.
        labels: 0, 1, or NaN if missing, float ``(N, tasks)``.
        tasks: names of the tasks.
        skipped: row number (1 is the first below the header), SMILES string and reason
            of each row without a graph.
    """

    name: str
    smiles: list[str]
    graphs: list[Data]
    labels: Tensor
    tasks: list[str]
    skipped: list[tuple[int, str, str]] = field(default_factory=list)

    def __len__(self) -> int:
        """Return the number of molecules."""
        return len(self.graphs)


def load_molecules(
    name_or_path: AnyPath,
    *,
    root: AnyPath | None = None,
    archives: AnyPath | None = None,
    smiles_column: str | None = None,
    task_columns: Sequence[str] | None = None,
) -> MoleculeSet:
    """Load a set of :data:`MOLECULENET`, or any CSV file of SMILES and 0/1 labels.

    Rows without a graph (see :func:`.parse_smiles`) are skipped with one warning;
    another names tasks with a single class, which have no ROC-AUC. What RDKit can read
    depends on its version: 2026.09 skips 8 rows each of Tox21 and HIV, 2022.09 none.
    Both keep the same 1,478 of ClinTox's 1,484 rows; Hu et al. kept 1,477, and it is
    not known which other row they lost.

    Args:
        name_or_path: one of the eight names, in any case, or the path of a CSV file,
            gzipped or not.
        root: folder of downloads, which are kept under ``molecules``. Default: the
            environment variable ``SEGA_ANCHOR_DATA``, else ``~/.cache/sega_anchor``.
        archives: folder with files such as ``tox21.csv.gz`` or ``BBBP.csv``, read
            before anything is downloaded. Default: the environment variable
            ``SEGA_ANCHOR_MOLECULES``, else none.
        smiles_column: column of SMILES strings. Default: that of the set; for other
            files "smiles", else "mol", in any case.
        task_columns: columns of labels. Default: those of the set; for other files all
            but the SMILES strings.

    Raises:
        ValueError: if the name is unknown, a folder or column does not exist, a label
            is not 0, 1 or empty, a task has no labels, no row has a graph, or the
            download fails.
        ImportError: if RDKit is not installed.

    Source: Wu et al., "MoleculeNet" (2018); ``chem/loader.py`` of
    snap-stanford/pretrain-gnns.

    Example:
        >>> load_molecules("tox22")
        Traceback (most recent call last):
        ValueError: unknown molecule set 'tox22': no such file, and none of bbbp, ...
    """
    name, source, path = find_molecules(name_or_path, root=root, archives=archives)
    rows = read_table(path)
    header = next(rows)
    wanted = smiles_column or source.smiles
    column = _position(path, header, wanted) if wanted else find_smiles_column(header)
    tasks = _tasks(path, header, column, task_columns, source)
    return _read(name, path, rows, column, tasks)


def find_molecules(
    name_or_path: AnyPath,
    *,
    root: AnyPath | None = None,
    archives: AnyPath | None = None,
) -> tuple[str, MoleculeSource, Path]:
    """Return name, columns and file of a set, arguments as for :func:`load_molecules`.

    Raises:
        ValueError: if the name is unknown or the download fails.
    """
    name = str(name_or_path)
    source = MOLECULENET.get(name.lower())
    if source is not None:
        return name.lower(), source, _find(name.lower(), source, root, archives)
    if (path := Path(name).expanduser()).is_file():
        return path.name.partition(".")[0], MoleculeSource(path.name, smiles=""), path
    raise ValueError(
        f"unknown molecule set {name!r}: no such file, and none of "
        f"{', '.join(MOLECULENET)}"
    )


def _find(
    name: str, source: MoleculeSource, root: AnyPath | None, archives: AnyPath | None
) -> Path:
    """Return the file of a set; download it if there is no local copy."""
    home = data_root(root) / "molecules"
    for folder in (archive_folder(archives, _ARCHIVES, "NAME.csv.gz"), home):
        for path in sorted(folder.iterdir()) if folder and folder.is_dir() else ():
            stem, _, ending = path.name.lower().partition(".")
            if stem in (name, source.stem.lower()) and ending in ("csv", "csv.gz"):
                return path
    check_writable(home, "the data folder", DATA_REMEDY)
    home.mkdir(parents=True, exist_ok=True)
    with temporary_folder(home, "download") as temporary:
        part = Path(temporary, source.file)
        download(name, source.url, part, _ARCHIVES)
        return part.replace(home / source.file)


def _tasks(
    path: Path,
    header: list[str],
    smiles: int,
    chosen: Sequence[str] | None,
    source: MoleculeSource,
) -> dict[str, int]:
    """Return the position of each task's column."""
    names = [chosen] if isinstance(chosen, str) else list(chosen or source.tasks)
    if not names:
        others = [name for i, name in enumerate(header) if i != smiles]
        names = [name for name in others if name not in source.other]
    if not names or len(set(names)) < len(names) or header[smiles] in names:
        raise ValueError(
            f"{path}: tasks must be one or more different columns besides that of "
            f"the SMILES strings, got {names}; name them with task_columns"
        )
    return {name: _position(path, header, name) for name in names}


def _position(path: Path, header: list[str], column: str) -> int:
    if column not in header:
        raise ValueError(
            f"{path} has no column {column!r}; its columns are "
            f"{', '.join(map(repr, header))}"
        )
    if header.count(column) > 1:
        raise ValueError(
            f"{path} has {header.count(column)} columns {column!r}: give each another "
            "name"
        )
    return header.index(column)


def _read(
    name: str,
    path: Path,
    rows: Iterator[list[str]],
    column: int,
    tasks: dict[str, int],
) -> MoleculeSet:
    smiles, graphs, skipped = [], [], []
    bar = progress_bar(rows, desc=f"Reading {name}", unit=" molecules")
    for number, row in enumerate(bar, start=1):
        y = _labels(path, number, row, tasks)
        text = row[column].strip()
        try:
            graph = as_data(molecule_arrays(text))
        except ValueError as error:
            skipped.append((number, text, str(error)))
            continue
        graph.y = y
        smiles.append(text)
        graphs.append(graph)
    _warn_of_skipped(name, skipped)
    if not graphs:
        raise ValueError(f"{path} has no row that RDKit reads; is the column right?")
    labels = torch.cat([graph.y for graph in graphs])
    _check_classes(path, labels, list(tasks))
    return MoleculeSet(name, smiles, graphs, labels, list(tasks), skipped)


def _labels(path: Path, number: int, row: list[str], tasks: dict[str, int]) -> Tensor:
    try:
        return torch.tensor([[_LABELS[row[i]] for i in tasks.values()]])
    except KeyError:
        task = next(name for name, i in tasks.items() if row[i] not in _LABELS)
        raise ValueError(
            f"{path}: row {number} has {row[tasks[task]]!r} in column {task!r}; labels "
            "must be 0, 1 or empty: correct it, or name the tasks with task_columns"
        ) from None


def _warn_of_skipped(name: str, skipped: list[tuple[int, str, str]]) -> None:
    if skipped:
        first = "; ".join(f"row {n}, {text!r}: {why}" for n, text, why in skipped[:3])
        warnings.warn(
            f"{name}: {len(skipped)} rows without a graph were skipped ({first}"
            f"{'; ...' if len(skipped) > 3 else ''})",
            stacklevel=4,
        )


def _check_classes(path: Path, labels: Tensor, tasks: list[str]) -> None:
    positive, negative = (labels == 1).any(dim=0), (labels == 0).any(dim=0)
    for index in (~(positive | negative)).nonzero().view(-1).tolist():
        raise ValueError(
            f"{path}: column {tasks[index]!r} has no label; name the tasks with "
            "task_columns"
        )
    single = (~(positive & negative)).nonzero().view(-1).tolist()
    if single:
        warnings.warn(
            f"{path}: {len(single)} tasks have but one class and so no ROC-AUC: "
            f"{', '.join(tasks[index] for index in single[:3])}"
            f"{', ...' if len(single) > 3 else ''}",
            stacklevel=4,
        )
