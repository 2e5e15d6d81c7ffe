"""Pages as each software makes them, written from its documentation: what it shows of itself, and its API."""

from typing import NamedTuple

SITE = "https://www.example.org/"


class ShownBy(NamedTuple):
    """The profile that must be recognised, the headers, the HTML, and how its first API address begins."""

    profile: str
    headers: tuple[tuple[str, str], ...]
    html: str
    address: str


def _generator(text: str) -> str:
    return (
        f'<html><head><meta name="generator" content="{text}"><title>Home</title></head><body></body></html>'
    )


PAGES = (
    ShownBy(
        "wordpress",
        (),
        "<head><link rel='https://api.w.org/' href='https://www.example.org/blog/wp-json/' /></head>",
        f"{SITE}blog/wp-json/wp/v2/media?media_type=application&per_page=100",
    ),
    ShownBy(
        "wordpress",
        (("Link", '<https://www.example.org/?rest_route=/>; rel="https://api.w.org/"'),),
        "<html></html>",
        f"{SITE}?rest_route=/wp/v2/media&media_type=application",
    ),
    ShownBy(
        "wordpress",
        (),
        '<html><head><script src="/wp-includes/js/jquery/jquery.min.js"></script></head></html>',
        f"{SITE}wp-json/wp/v2/media",
    ),
    ShownBy(
        "drupal", (("X-Generator", "Drupal 10 (https://www.drupal.org)"),), "", f"{SITE}jsonapi/file/file"
    ),
    ShownBy("plone", (), _generator("Plone - https://plone.org/"), f"{SITE}++api++/@search"),
    ShownBy("typo3", (), _generator("TYPO3 CMS"), f"{SITE}?type=1533906435"),
    ShownBy("joomla", (), _generator("Joomla! - Open Source Content Management"), f"{SITE}?format=feed"),
    ShownBy("sharepoint", (("MicrosoftSharePointTeamServices", "16.0.0.0"),), "", f"{SITE}_api/search/query"),
    ShownBy("ckan", (), _generator("ckan 2.10.4"), f"{SITE}api/3/action/package_search"),
    ShownBy(
        "dkan",
        (),
        '<meta name="Generator" content="Drupal 10"><link href="/modules/contrib/dkan/style.css">',
        f"{SITE}api/1/metastore/schemas/dataset/items",
    ),
    ShownBy("socrata", (("X-Socrata-RequestId", "abc"),), "<html></html>", f"{SITE}api/catalog/v1"),
    ShownBy(
        "opendatasoft",
        (),
        '<html><head><script src="https://static.opendatasoft.com/a.js"></script></head></html>',
        f"{SITE}api/explore/v2.1/catalog/datasets",
    ),
    ShownBy(
        "arcgis-hub",
        (),
        '<html><head><link href="https://hubcdn.arcgis.com/opendata-ui/assets/x.css"></head></html>',
        f"{SITE}api/feed/dcat-us/1.1.json",
    ),
    ShownBy("dataverse", (), '<a href="/dataverse.xhtml?alias=root">Root</a>', f"{SITE}api/search?q=*"),
    ShownBy("invenio-rdm", (), "<footer>Powered by InvenioRDM</footer>", f"{SITE}api/records"),
    ShownBy("dspace", (), _generator("DSpace 7.6.1"), f"{SITE}server/api/discover/search/objects"),
    ShownBy("dspace", (), _generator("DSpace 6.3"), f"{SITE}rest/items"),
    ShownBy("eprints", (), _generator("EPrints 3.4.5"), f"{SITE}cgi/oai2?verb=ListRecords"),
    ShownBy("oai-pmh", (), '<a href="/oai?verb=Identify">OAI</a>', f"{SITE}oai?verb=ListRecords"),
    ShownBy(
        "geonetwork",
        (),
        '<html ng-app="gn_search"><a href="/geonetwork/srv/eng/catalog.search">',
        f"{SITE}geonetwork/srv/eng/csw?service=CSW",
    ),
    ShownBy("nada", (), '<div class="nada-citation">', f"{SITE}index.php/api/catalog/search"),
    ShownBy("pxweb", (), '<div id="pxweb-app">', f"{SITE}api/v2/tables"),
    ShownBy(
        "sdmx",
        (),
        '<a href="https://www.example.org/sdmx/rest/dataflow">API</a>',
        f"{SITE}sdmx/rest/dataflow/all/all/latest",
    ),
    ShownBy("dcat", (), '<a href="/data.json">All our data</a>', f"{SITE}data.json"),
    ShownBy(
        "schema.org",
        (),
        '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Dataset",'
        ' "name": "Taxes", "distribution": {"contentUrl": "/taxes.csv"}}</script>',
        "",
    ),
)
"""One or more for each profile that comes with Coati."""

PLAIN = (
    "<html><head><title>Ministry</title></head><body><a href='/data/'>Data</a></body></html>",
    # A picture from another site's WordPress, a text about software, a link to a portal elsewhere.
    '<img src="https://blog.example.com/wp-includes/images/a.png">',
    "<p>We moved from WordPress to Drupal, and our data to CKAN, DSpace and Socrata.</p>",
    '<a href="https://data.example.com/data.json">Somebody else\'s catalogue</a>',
    '<meta name="generator" content="Hugo 0.120">',
    '<a href="https://example.com/rest/dataflow.html">About our dataflow</a>',
    '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Organization"}</script>',
)
"""Pages of no software that we know."""
