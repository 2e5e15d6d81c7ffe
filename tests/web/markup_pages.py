"""Pages with structured data as it is found on the web, sound and broken, and what each of them says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class MarkedPage(NamedTuple):
    """A page, its statements by syntax, and the types of schema.org on it."""

    name: str
    html: str
    statements: Mapping[str, int]
    types: tuple[str, ...] = ()


_SHOP = """<!DOCTYPE html><html lang=en><head><title>Kettle</title>
<meta property="og:title" content="Kettle"><meta property="og:type" content="product">
<meta property="og:image" content="/k.png"><meta name="description" content="A kettle">
</head><body><nav role="navigation"><a href="/" rel="home">Home</a></nav>
<div itemscope itemtype="https://schema.org/Product">
  <h1 itemprop="name">Kettle</h1><img itemprop="image" src="/k.png">
  <div itemprop="offers" itemscope itemtype="https://schema.org/Offer">
    <span itemprop="price" content="29.90">29,90</span><meta itemprop="priceCurrency" content="EUR">
    <link itemprop="availability" href="https://schema.org/InStock">
  </div>
  <div itemprop="aggregateRating" itemscope itemtype="https://schema.org/AggregateRating">
    <b itemprop="ratingValue">4.4</b><b itemprop="reviewCount">89</b></div>
</div></body></html>"""

_DATASET = """<html><head><script type="application/ld+json">
{"@context": "https://schema.org/", "@type": "Dataset", "name": "Rain", "description": "Rain by day",
 "keywords": ["rain", "weather"], "license": null, "isAccessibleForFree": true,
 "creator": {"@type": "Organization", "name": "Met", "sameAs": []},
 "distribution": [{"@type": "DataDownload", "encodingFormat": "CSV", "contentUrl": "https://x.test/r.csv"},
                  {"@type": "DataDownload", "contentUrl": "https://x.test/r.json"}]}
</script></head><body><p>Rain</p></body></html>"""

_GRAPH = """<html><head><script type="application/ld+json">
{"@context": {"@vocab": "http://schema.org/", "ex": "http://example.org/"}, "@graph": [
  {"@id": "#a", "@type": ["Person", "ex:Clerk"], "name": {"@value": "Ana", "@language": "pt"}},
  {"@id": "#b", "@type": "Event", "performer": {"@id": "#a"},
   "@reverse": {"subjectOf": {"@type": "Article", "headline": "x"}}}]}
</script></head></html>"""

_RDFA_PERSON = """<body vocab="http://schema.org/"><div typeof="Person" resource="#m">
<span property="name">Manu</span> <a property="url" href="http://m.test/">home</a>
<div property="address" typeof="PostalAddress"><span property="addressLocality">Paris</span></div>
</div></body>"""

_RDFA_PREFIXED = """<html prefix="dct: http://purl.org/dc/terms/ dcat: http://www.w3.org/ns/dcat#"><body>
<div about="/ds/1" typeof="dcat:Dataset"><h1 property="dct:title">Budget</h1>
<p property="dct:description">All of it</p><a rel="dcat:distribution" href="/b.csv">CSV</a>
<a rel="license" href="https://cc.test/by">by</a></div></body></html>"""

_HENTRY = """<body class="hfeed"><div class="hentry post"><h2 class="entry-title">
<a rel="bookmark" href="/p">P</a></h2>
<span class="author vcard"><a class="fn url" href="/a">Ann</a></span>
<abbr class="published" title="2020-01-01">then</abbr><div class="entry-content">text</div>
<a rel="tag" href="/tag/x">x</a></div></body>"""

_HCARD = """<div class="h-card"><a class="p-name u-url" href="https://a.test/">Ann</a>
<img class="u-photo" src="/a.png" alt=""><span class="p-org h-card">Org</span></div>"""

_CARDS_ALONE = """<html><head prefix="og: http://ogp.me/ns#"><meta property="og:title" content="T">
<meta property="og:url" content="https://x.test/"><meta property="twitter:card" content="summary">
<meta property="fb:app_id" content="1"><meta property="article:author" content="A">
</head><body><main role="main">text</main><footer role="contentinfo">x</footer></body></html>"""

_REFERRED = """<body><div itemscope itemtype="http://schema.org/Event" itemref="when where"></div>
<p id="when"><time itemprop="startDate" datetime="2020-01-01">x</time></p>
<div id="where" itemprop="location" itemscope itemtype="http://schema.org/Place">
<b itemprop="name">N</b></div>
</body>"""

_COMMENTED = """<script type="application/ld+json">
// <![CDATA[
{"@context": "http://schema.org", "@type": "WebSite", "url": "http://x.test/"}
</script>"""

_BROKEN_BESIDE_SOUND = """<script type="application/ld+json">{"@type": "Thing", "name": "x",}</script>
<script type="application/ld+json">{"@context":"http://schema.org","@type":"Recipe","name":"Soup"}</script>"""

PAGES: tuple[MarkedPage, ...] = (
    MarkedPage("nothing", "<html><body><p>Text about property and h-index", {}),
    MarkedPage("a shop", _SHOP, {"microdata": 12, "opengraph": 3}, ("AggregateRating", "Offer", "Product")),
    MarkedPage("a data set", _DATASET, {"json-ld": 16}, ("DataDownload", "Dataset", "Organization")),
    MarkedPage("a graph", _GRAPH, {"json-ld": 8}, ("Article", "Event", "Person")),
    MarkedPage("a person in RDFa", _RDFA_PERSON, {"rdfa": 6}, ("Person", "PostalAddress")),
    MarkedPage("a data set in RDFa", _RDFA_PREFIXED, {"rdfa": 5}),
    MarkedPage("classic microformats", _HENTRY, {"microformats": 11}),
    MarkedPage("a card", _HCARD, {"microformats": 7}),
    MarkedPage("only what networks show", _CARDS_ALONE, {"opengraph": 3}),
    MarkedPage("properties elsewhere", _REFERRED, {"microdata": 5}, ("Event", "Place")),
    MarkedPage("comments in a script", _COMMENTED, {"json-ld": 2}, ("WebSite",)),
    MarkedPage("heights", '<div class="h-full w-full"><p class="h-10 h-screen">x</p></div>', {}),
    MarkedPage("a plain item", '<div class="h-entry">text</div>', {"microformats": 2}),
    MarkedPage("an item that is a link", '<a class="h-card" href="/a"><img src="/p">', {"microformats": 4}),
    MarkedPage("terms without a vocabulary", '<p property="name" typeof="Person">x</p>', {}),
    MarkedPage("a property of no item", '<p itemprop="name">x</p>', {}),
    MarkedPage("an item without anything", "<p itemscope>x</p>", {}),
    MarkedPage("a licence", '<a rel="license" href="/l">x</a><a rel="LICENSE" href="/l">y</a>', {"rdfa": 1}),
    MarkedPage(
        "shouting",
        '<P ITEMSCOPE ITEMTYPE="http://schema.org/Book"><B ITEMPROP="name">x',
        {"microdata": 2},
        ("Book",),
    ),
    MarkedPage("two names", '<p itemscope itemtype="a:b c:d"><b itemprop="x y">v</b>', {"microdata": 4}),
    MarkedPage(
        "an event",
        '<div class="vevent"><b class="summary">S</b><i class="dtstart">2020-01-01</i></div>',
        {"microformats": 3},
    ),
    MarkedPage("relations with prefixes", '<a rel="foaf:knows nofollow" href="/u">u</a>', {"rdfa": 1}),
)
"""Pages on which extruct agrees with us about the number of statements."""

HARD_PAGES: tuple[MarkedPage, ...] = (
    MarkedPage("a broken script", _BROKEN_BESIDE_SOUND, {"json-ld": 2}, ("Recipe",)),
    MarkedPage("a script in a comment", "<!-- <script type='application/ld+json'>{}</script> -->", {}),
    MarkedPage("an unclosed script", '<script type="application/ld+json">{"@type": "Thing"', {}),
)
"""Pages of which extruct gives up a part that we read."""
