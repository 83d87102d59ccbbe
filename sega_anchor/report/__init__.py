"""Results of runs, their records on disk, and tables of them."""

from ..utils.files import write_atomically as write_atomically
from .comparison import Gain as Gain
from .comparison import Pair as Pair
from .comparison import comparison_table as comparison_table
from .record import Record as Record
from .result import Accuracy as Accuracy
from .result import Evaluation as Evaluation
from .result import Result as Result
from .table import result_table as result_table
from .table import table as table
from .tuned import Tuned as Tuned
from .tuned import tuned_table as tuned_table
