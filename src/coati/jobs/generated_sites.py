"""Generates what experiments need: sites (as archives), webs of many hosts or to search in, histories."""

from __future__ import annotations

from pathlib import Path

from coati.archive.archive import Archive
from coati.archive.record import ArchiveMeta
from coati.errors import unknown_name
from coati.experiments.site_specs import GeneratedSite, GeneratedWeb, SearchedTopic, SitesTogether
from coati.experiments.sites import Generators, History
from coati.testing.data_web import DataWeb
from coati.testing.generator import generate_site
from coati.testing.host_web import HostWeb
from coati.testing.page_histories import HistoryParameters, generate_history
from coati.testing.paper_sites import paper_site_parameters
from coati.testing.paper_topics import topic_web
from coati.testing.rich_and_poor import RichOrPoorSite
from coati.testing.web_parameters import WebParameters
from coati.web.media import PRESETS

# The papers whose data a web can be like.
_WEBS = ("cikm2014",)


def _write_site(site: GeneratedSite, folder: Path) -> None:
    """Generate a site like one of the paper's, and archive it; targets keep their sizes, not their bytes."""
    made = generate_site(paper_site_parameters(site.model, site.pages), site.seed, f"http://{site.name}.test")
    origin = f"generated like {site.model} of the EDBT 2026 paper, {site.pages} pages, seed {site.seed}"
    meta = ArchiveMeta(site.name, made.start_url, PRESETS["data"], origin=origin)
    with Archive.create(folder, meta) as archive, archive.bulk():
        for record in made.to_records():
            archive.add(record)


def _open_web(web: GeneratedWeb, seed: int) -> HostWeb:
    """Generate a web like that of a paper."""
    if web.model not in _WEBS:
        raise unknown_name("generated web", web.model, _WEBS)
    return HostWeb(WebParameters.at_scale(web.scale), seed, web.goal)


def _open_history(seed: int) -> History:
    """Generate a history of pages with the sizes of the third domain of the WSDM 2018 paper."""
    parameters = HistoryParameters()
    made = generate_history(parameters, seed)
    moments = tuple(parameters.begin + 3600.0 * cycle for cycle in range(parameters.cycles))
    return History(made, tuple(made.pages), moments)


def _open_topic(searched: SearchedTopic, seed: int) -> DataWeb:
    """Generate the web that a topic of the CIKM 2021 paper is searched for in."""
    return topic_web(searched.topic, searched.scale, seed)


def _open_member_site(together: SitesTogether, seed: int, number: int) -> RichOrPoorSite:
    """Generate one of the sites that share a budget; the first ones are rich."""
    return RichOrPoorSite(seed, number, rich=number < together.rich)


GENERATORS = Generators(
    write_site=_write_site,
    open_web=_open_web,
    open_history=_open_history,
    open_topic=_open_topic,
    open_member_site=_open_member_site,
)
