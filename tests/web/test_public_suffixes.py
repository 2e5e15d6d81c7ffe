import pytest
from tldextract import TLDExtract

from coati.web.public_suffixes import PLAIN_ENDINGS, is_public_suffix
from coati.web.rules import Rules, Scope


@pytest.mark.parametrize(
    ("host", "is_suffix"),
    [
        ("gov.uk", True),
        ("gov.ie", True),
        ("qld.gov.au", True),
        ("example.gov.uk", False),
        ("example.org", False),
        ("example.uk", False),
        ("127.0.0.1", False),
        ("intranet.local", False),
    ],
)
def test_a_suffix_is_distinguished_from_a_site(host: str, *, is_suffix: bool) -> None:
    assert is_public_suffix(host) is is_suffix


def test_the_endings_that_are_not_looked_up_have_no_suffix_below_them() -> None:
    listed = TLDExtract(suffix_list_urls=(), cache_dir=None).tlds
    assert [name for name in listed if name.count(".") == 1 and name.split(".")[1] in PLAIN_ENDINGS] == []


@pytest.mark.parametrize("scope", [Scope.DOMAIN, Scope.HOST])
def test_the_site_of_a_government_is_not_everything_below_its_suffix(scope: Scope) -> None:
    rules = Rules("https://www.gov.uk/", scope)
    assert rules.refusal("https://www.gov.uk/a") is None
    assert rules.refusal("https://council.gov.uk/a") is not None
    assert rules.refusal("https://gov.uk/a") is not None
    assert (rules.refusal("https://data.www.gov.uk/a") is None) is (scope is Scope.DOMAIN)
