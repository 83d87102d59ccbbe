"""AutoGCL, and SEGA on top: one of the two generated views replaced by the anchor view.

from adapters import autogcl
autogcl.run("MUTAG", anchor=True).accuracy
"""

from .method import SEARCH as SEARCH
from .method import AutoGCL as AutoGCL
from .method import Config as Config
from .method import run as run
from .view_generator import View as View
from .view_generator import ViewGenerator as ViewGenerator
from .view_generator import gumbel_softmax as gumbel_softmax
