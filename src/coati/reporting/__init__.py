"""What a run found, told to people: a page to read, and why a URL fared as it did."""

from typing import TYPE_CHECKING

from coati.lazy_names import names_from

if TYPE_CHECKING:
    from coati.reporting.explaining import explain_url
    from coati.reporting.explanation import Explanation, Verdict
    from coati.reporting.report_file import write_report

__all__ = ["Explanation", "Verdict", "explain_url", "write_report"]

# Imported on first use: tables in notebooks need only the HTML.
_PLACES = {
    "coati.reporting.explaining": ["explain_url"],
    "coati.reporting.explanation": ["Explanation", "Verdict"],
    "coati.reporting.report_file": ["write_report"],
}

__getattr__ = names_from(__name__, _PLACES)
