"""Results of runs, their records on disk, and tables of them."""

from ..utils.files import write_atomically as write_atomically
from .accuracy import Accuracy as Accuracy
from .accuracy import Evaluation as Evaluation
from .collect import Cell as Cell
from .collect import Collected as Collected
from .collect import collect as collect
from .comparison import Pair as Pair
from .comparison import comparison_table as comparison_table
from .comparison import difference_table as difference_table
from .load import load as load
from .paired import Difference as Difference
from .paired import Inference as Inference
from .paired import correct as correct
from .paired import holm as holm
from .paired import sign_flip_test as sign_flip_test
from .paper_table import PaperTable as PaperTable
from .paper_table import paper_table as paper_table
from .published import published as published
from .record import Record as Record
from .result import Result as Result
from .table import result_table as result_table
from .table import table as table
from .tuned import Tuned as Tuned
from .tuned import tuned_table as tuned_table
