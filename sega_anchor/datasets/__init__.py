"""Data sets by name or file, and the loader of packed graphs.

``tu``, ``molecules`` and ``proteins`` are collections; ``synthetic`` needs no files.
"""

from ..loader import PackedGraphs as PackedGraphs
from ..loader import PackedLoader as PackedLoader
from ..loader import open_packed as open_packed
from ..loader import pack_dataset as pack_dataset
from .molecules import MOLECULENET as MOLECULENET
from .molecules import MoleculeSet as MoleculeSet
from .molecules import load_molecules as load_molecules
from .molecules import molecule_graph as molecule_graph
from .molecules import pack_smiles as pack_smiles
from .molecules import scaffold_split as scaffold_split
from .proteins import SpeciesSplit as SpeciesSplit
from .proteins import ego_networks as ego_networks
from .proteins import load_proteins as load_proteins
from .proteins import species_split as species_split
from .synthetic import SyntheticCommunities as SyntheticCommunities
from .tu import TU_NAMES as TU_NAMES
from .tu import is_local as is_local
from .tu import load as load
