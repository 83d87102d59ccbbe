"""Data sets: TU sets, an embedded synthetic one, molecules and proteins."""

from .ego_networks import ego_networks as ego_networks
from .loader import PackedLoader as PackedLoader
from .moleculenet import MOLECULENET as MOLECULENET
from .moleculenet import MoleculeSet as MoleculeSet
from .moleculenet import load_molecules as load_molecules
from .packed import PackedGraphs as PackedGraphs
from .proteins import load_proteins as load_proteins
from .smiles import molecule_graph as molecule_graph
from .smiles_store import pack_smiles as pack_smiles
from .store import open_packed as open_packed
from .stream import pack_dataset as pack_dataset
from .synthetic import SyntheticCommunities as SyntheticCommunities
from .tu import TU_NAMES as TU_NAMES
from .tu import load as load
