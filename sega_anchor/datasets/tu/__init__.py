"""Graph classification sets of the TU collection, by name."""

from .load import TU_NAMES as TU_NAMES
from .load import is_local as is_local
from .load import load as load
