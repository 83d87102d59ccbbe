"""GraphCL, and SEGA: the original graph replaced by its anchor view.

from adapters import graphcl
graphcl.run("MUTAG", anchor=True).accuracy
"""

from .method import SEARCH as SEARCH
from .method import Config as Config
from .method import GraphCL as GraphCL
from .method import run as run
