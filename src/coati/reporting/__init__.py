"""What a run found, told to people: a page to read, and why a URL fared as it did."""

from coati.reporting.explaining import explain_url
from coati.reporting.explanation import Explanation, Verdict
from coati.reporting.report_file import write_report

__all__ = ["Explanation", "Verdict", "explain_url", "write_report"]
