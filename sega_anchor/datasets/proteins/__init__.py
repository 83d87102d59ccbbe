"""Ego-networks of protein interactions, their labels and species splits."""

from .ego_networks import ego_networks as ego_networks
from .load import load_proteins as load_proteins
from .species_split import SpeciesSplit as SpeciesSplit
from .species_split import species_split as species_split
