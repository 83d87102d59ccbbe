"""``sega-anchor reproduce``: the paper's tables and figures, ours beside them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonargparse import ArgumentParser, Namespace

from ..utils import check_at_least
from ._compare import finish
from ._json import cell_json
from ._plan import Plan, Search, TargetName, hours, trainings

if TYPE_CHECKING:
    from ..experiments import Run
    from ..report.result import Choice


def add_arguments(parser: ArgumentParser) -> None:
    """Give the parser the arguments of ``sega-anchor reproduce``."""
    from ..protocols import Settings

    parser.add_argument(
        "table",
        type=TargetName,
        help="a table of the paper, or a figure: rbbt (random trees) or height",
    )
    parser.add_argument(
        "--only",
        type=str,
        nargs="+",
        help="rows and columns by the paper's names, such as SEGA MUTAG; default all",
    )
    parser.add_argument(
        "--search",
        type=Search,
        default="none",
        help="what validation, or under the paper's protocol the test folds, choose "
        "among: none, the heights of trees (small), or all that the paper names",
    )
    parser.add_argument(
        "--choose_on", type=int, default=1, help="seeds on which alternatives compete"
    )
    parser.add_argument(
        "--finalists", type=int, default=1, help="alternatives that get all seeds"
    )
    parser.add_argument(
        "--smiles", type=str | None, help="of table2: molecules to pre-train on"
    )
    parser.add_argument(
        "--pretrain_epochs",
        type=int | None,
        help="of table2 and table3; default as published",
    )
    parser.add_argument(
        "--dry_run", action="store_true", help="print what would run, and how long"
    )
    parser.add_class_arguments(Settings)
    parser.set_defaults({"results": "results", "seeds": 5, "protocol": "paper"})


def run(chosen: Namespace) -> dict[str, Any]:
    """Run what is not on record, then print the table; or say what would be run.

    Returns:
        All results, as JSON knows them; of a dry run the hours of each cell.

    Raises:
        ValueError: for rows, columns or options that cannot be used, or if no data set
            can be found.
    """
    from ..experiments import missing_data, pair, summary
    from ..protocols import Settings
    from ..report.published import TABLES

    for name in ("choose_on", "finalists"):
        check_at_least(name, chosen[name], 1)
    plan = Plan.of(chosen.table, chosen.only)
    options = {field.name: chosen[field.name] for field in fields(Settings)}
    options["pretrain_epochs"] = chosen.pretrain_epochs
    if chosen.dry_run:
        return _foretell(chosen, plan, plan.runs(chosen.search, options))
    if chosen.table == "table2":
        _check_pretraining(chosen, plan)
    runs = plan.runs(chosen.search, options)
    missing = missing_data(runs, list(plan.columns.values()))
    datasets = [name for name in plan.columns.values() if name not in missing]
    for name, reason in missing.items():
        print(f"{name} is left out: {reason}")
    if not datasets:
        raise ValueError("no data set of the table can be found")
    if chosen.table == "table2":
        plan = _pretrained(chosen, plan)
        runs = plan.runs(chosen.search, options)
    by: Choice = "test" if chosen.protocol == "paper" else "validation"
    cells = finish(runs, datasets, chosen.choose_on, chosen.finalists, by)
    print(f"\n{summary(cells, pair(cells, plan.against(runs)))}")
    if chosen.results is not None and chosen.table in TABLES:
        _print_beside_the_paper(chosen)
    return {"runs": [cell_json(cell) for cell in cells], "missing": missing}


def _print_beside_the_paper(chosen: Namespace) -> None:
    """Print the table in the paper's layout, from all records of the folder."""
    from ..report import collect, paper_table
    from ..report.formats import LEGEND, heading, markdown, paper_rows

    found = paper_table(collect(chosen.results).cells, chosen.table, chosen.protocol)
    print(f"\n{markdown(heading(found), *paper_rows(found))}")
    print(f"\n{textwrap.fill(LEGEND, 88)}")
    print(f"\nFigures, and links to the records: sega-anchor report {chosen.results}")


def _foretell(chosen: Namespace, plan: Plan, runs: list[Run]) -> dict[str, Any]:
    """Print what would be run, what it needs, and for how long."""
    from ..report import table

    search = chosen.choose_on, chosen.finalists
    cells: list[dict[str, Any]] = []
    for (row, line), one in zip(plan.lines.items(), runs, strict=True):
        for column, name in plan.columns.items():
            cells.append(
                {
                    "row": row,
                    "column": column,
                    "configurations": len(one.alternatives),
                    "trainings": trainings(one, *search),
                    "hours": round(hours(line, one, name, *search), 2),
                    "needs": _needs(line, name, chosen),
                }
            )
    rows = [[str(value) for value in cell.values()] for cell in cells]
    print(table(list(cells[0]), rows, keys=2))
    total = round(sum(cell["hours"] for cell in cells), 1)
    print(
        f"\nAbout {total} hours on one core like ours. What is on record takes none, "
        "and several processes with one results folder share the rest."
    )
    return {"cells": cells, "hours": total}


def _needs(line: Mapping[str, Any], name: str, chosen: Namespace) -> str:
    """Return what is to be had before a cell can be run."""
    from ..datasets import MOLECULENET, is_local

    if line["method"] != "transfer":
        here = is_local(name, root=chosen.root, archives=chosen.archives)
        return "-" if here else f"{name}.zip"
    needs = MOLECULENET[name].file if name in MOLECULENET else "data without a source"
    return f"{needs}, --smiles" if "pretraining" in line else needs


def _check_pretraining(chosen: Namespace, plan: Plan) -> None:
    """Raise ValueError if rows begin with encoders that cannot be pre-trained."""
    for row, line in plan.lines.items():
        if "pretraining" in line and None in (chosen.smiles, chosen.results):
            raise ValueError(
                f"{row} is pre-trained first: name a file of molecules with --smiles "
                "and a folder with --results, or leave the row out with --only"
            )


def _pretrained(chosen: Namespace, plan: Plan) -> Plan:
    """Pre-train what the rows begin with; return the plan with their checkpoints."""
    from ..protocols import transfer

    given = chosen.pretrain_epochs
    epochs = {} if given is None else {"epochs": given}
    lines: dict[str, dict[str, Any]] = {}
    for row, line in plan.lines.items():
        lines[row] = {name: line[name] for name in line if name != "pretraining"}
        method = line.get("pretraining")
        if method is None:
            continue
        folder = Path(chosen.results, f"pretrained-{method}-{chosen.protocol}")
        last = transfer.pretrain(
            chosen.smiles,
            folder,
            pretraining=method,
            protocol=chosen.protocol,
            device=chosen.device,
            **epochs,
        )
        paths = [str(path) for path in sorted(folder.glob("*.safetensors"))]
        usual = folder / "epoch080.safetensors"  # of GraphCL's released code
        if chosen.search == "none":
            paths = [str(usual if usual.exists() else last)]
        lines[row]["checkpoint"] = paths if len(paths) > 1 else paths[0]
    return replace(plan, lines=lines)
