"""Molecules from SMILES strings: MoleculeNet, files of any size, scaffold splits."""

from .moleculenet import MOLECULENET as MOLECULENET
from .moleculenet import MoleculeSet as MoleculeSet
from .moleculenet import load_molecules as load_molecules
from .pack_smiles import pack_smiles as pack_smiles
from .scaffold_split import scaffold_split as scaffold_split
from .smiles import molecule_graph as molecule_graph
