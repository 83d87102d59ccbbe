"""Any number of methods on any number of data sets, paired seed by seed.

A ``Run`` is a method with its options, ``complete`` trains and evaluates what is not on
record, ``against`` says which run is compared with which, ``pair`` puts their results
side by side; :mod:`sega_anchor.report` makes tables of them, ``summary`` all of those.
"""

from ._complete import Cell as Cell
from ._complete import complete as complete
from ._complete import missing_data as missing_data
from ._pair import against as against
from ._pair import pair as pair
from ._run import Run as Run
from ._run import option_types as option_types
from ._summary import chosen_table as chosen_table
from ._summary import summary as summary
