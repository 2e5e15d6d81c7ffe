"""The kinds of sections that a generated site has: how each writes its URLs, its lists and its articles.

A family's markup is the same on each of its pages, as a template's is on a real site, so that links of one
use share their tag path. ``{id}`` stands where a page or an entry may carry an id of its own.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of section. ``rich`` families hold nearly all targets."""

    name: str
    rich: bool
    # URLs: n is a number, slug some words; the next page of a listing adds ``next_page`` to the first one's.
    item_url: str
    file_url: str
    bare_file_url: str
    next_page: str
    # A listing, one entry of it, and the link to its next page.
    listing: str
    entry: str
    pager: str
    # An article, the block of its files, and one of these.
    article: str
    files: str
    file: str


FAMILIES = (
    Family(
        name="catalogue",
        rich=True,
        item_url="/catalogue/{slug}-{n}",
        file_url="/catalogue/files/{n}/{slug}.{ext}",
        bare_file_url="/catalogue/download?id={n}",
        next_page="?page={place}",
        listing='<div class="view"><div class="view-content"><ol class="datasets">{entries}</ol></div></div>',
        entry='<li class="dataset"{id}><h3 class="title"><a href="{href}">{text}</a></h3></li>',
        pager='<nav class="pager"><ul><li class="next"><a rel="next" href="{href}">Next</a></li></ul></nav>',
        article='<article class="dataset-full"{id}><div class="description">{text}</div>{files}</article>',
        files='<section class="resources"><ul class="resource-list">{files}</ul></section>',
        file='<li class="resource"><a class="download" href="{href}">{text}</a></li>',
    ),
    Family(
        name="news",
        rich=False,
        item_url="/news/{year}/{slug}-{n}.html",
        file_url="/uploads/{year}/{slug}-{n}.{ext}",
        bare_file_url="/media/download/{n}",
        next_page="/page/{place}",
        listing='<div id="news">{entries}</div>',
        entry='<article class="teaser"{id}><h2><a href="{href}">{text}</a></h2></article>',
        pager='<p class="older"><a href="{href}">Older news</a></p>',
        article='<div class="story"{id}><div class="body">{text}{files}</div></div>',
        files="<p>See also {files}and more.</p>",
        file='<a href="{href}">{text}</a>, ',
    ),
    Family(
        name="publications",
        rich=True,
        item_url="/publications/{n}/{slug}",
        file_url="/sites/default/files/{year}/{slug}-{n}.{ext}",
        bare_file_url="/publications/{n}/download",
        next_page="?from={place}",
        listing='<table class="publications"><tbody>{entries}</tbody></table>',
        entry='<tr{id}><td class="year">2021</td><td class="title"><a href="{href}">{text}</a></td></tr>',
        pager='<div class="pagination"><a class="page-next" href="{href}">&gt;</a></div>',
        article='<div class="publication"{id}><div class="abstract">{text}</div>{files}</div>',
        files='<div class="files">{files}</div>',
        file='<p class="file"><a class="pdf" href="{href}">{text}</a></p>',
    ),
    Family(
        name="people",
        rich=False,
        item_url="/people/{n}",
        file_url="/people/files/{slug}_{n}.{ext}",
        bare_file_url="/people/file/{n}",
        next_page="?start={place}",
        listing='<dl class="directory">{entries}</dl>',
        entry='<dt{id}><a href="{href}">{text}</a></dt><dd>Office</dd>',
        pager='<p><a class="more" href="{href}">More people</a></p>',
        article='<div class="profile"{id}><div class="vcard">{text}</div>{files}</div>',
        files='<ul class="links">{files}</ul>',
        file='<li><a href="{href}">{text}</a></li>',
    ),
    Family(
        name="statistics",
        rich=True,
        item_url="/statistics/view?table={n}",
        file_url="/statistics/export/{slug}-{n}.{ext}",
        bare_file_url="/statistics/export/{n}",
        next_page="/{place}",
        listing='<div class="row"><div class="col-8">{entries}</div></div>',
        entry='<div class="card"{id}><a class="card-link" href="{href}">{text}</a></div>',
        pager='<div class="row"><a class="btn btn-more" href="{href}">Show more tables</a></div>',
        article='<div class="container"><div class="tab-pane"{id}>{text}{files}</div></div>',
        files='<div class="toolbar">{files}</div>',
        file='<span class="tool"><a class="btn btn-primary" href="{href}">{text}</a></span>',
    ),
    Family(
        name="events",
        rich=False,
        item_url="/events/{year}/{n}-{slug}",
        file_url="/events/papers/{n}/{slug}.{ext}",
        bare_file_url="/events/paper?no={n}",
        next_page="?offset={place}",
        listing='<section class="agenda"><ul class="events">{entries}</ul></section>',
        entry='<li{id}><time>10:00</time> <a href="{href}">{text}</a></li>',
        pager='<p class="earlier"><a href="{href}">Earlier events</a></p>',
        article='<section class="event"{id}><div class="programme">{text}{files}</div></section>',
        files='<div class="handouts">{files}</div>',
        file='<a href="{href}">{text}</a><br>',
    ),
)
