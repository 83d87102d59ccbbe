"""A report: the paper's tables with our values, and a page of tables and figures."""

from .write_report import Report as Report
from .write_report import write_report as write_report
