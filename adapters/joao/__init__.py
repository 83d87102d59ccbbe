"""JOAO and JOAOv2, and SEGA on top: the original graph replaced by its anchor view.

from adapters import joao
joao.run("MUTAG", version=2, anchor=True).accuracy
"""

from .config import SEARCH as SEARCH
from .config import Config as Config
from .distribution import ascended as ascended
from .distribution import bisect_to_simplex as bisect_to_simplex
from .distribution import project_to_simplex as project_to_simplex
from .distribution import updated as updated
from .method import JOAO as JOAO
from .method import run as run
