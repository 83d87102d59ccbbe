"""Data sets: TU graph classification sets and an embedded synthetic one."""

from .synthetic import SyntheticCommunities as SyntheticCommunities
from .tu import TU_NAMES as TU_NAMES
from .tu import load as load
