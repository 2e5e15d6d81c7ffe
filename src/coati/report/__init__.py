"""What a run found, told to people: a page to read, and why a URL fared as it did."""

from coati.report.explaining import explain_url
from coati.report.explanation import Explanation, Verdict
from coati.report.writing import write_report

__all__ = ["Explanation", "Verdict", "explain_url", "write_report"]
