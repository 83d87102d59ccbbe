"""Helpers for all folders: sums, precision, files, checks, and progress."""

from .checks import check_at_least as check_at_least
from .checks import check_choice as check_choice
from .checks import check_positive as check_positive
from .checks import warn_caller as warn_caller
from .files import check_writable as check_writable
from .files import file_digest as file_digest
from .files import write_atomically as write_atomically
from .precision import widen as widen
from .precision import without_autocast as without_autocast
from .scatter import num_graphs as num_graphs
from .scatter import pool as pool
from .scatter import prefix_sum as prefix_sum
from .scatter import sum_neighbours as sum_neighbours
from .scatter import sum_rows as sum_rows
from .scatter import take_rows as take_rows
