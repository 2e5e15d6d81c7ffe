"""Sites whose every answer is meant: none of their pages answers as a site in trouble does."""

from dataclasses import replace

from coati.testing.site import Site

_TROUBLE, _NOT_FOUND = 500, 404


def without_outages(site: Site) -> Site:
    """Let pages that are broken be missing: live, a 500 is asked again at the end (decision 52)."""
    answers = {
        url: replace(answer, status=_NOT_FOUND) if answer.status == _TROUBLE else answer
        for url, answer in site.responses.items()
    }
    return Site(site.start_url, answers)
