"""The sections of the sample site, one function each. They write pages into an `Office`, by path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from random import Random

from coati.testing.sample_datasets import (
    MEDIA_TYPES,
    DataFile,
    Dataset,
    Publication,
    make_bulletin,
    make_datasets,
    make_publications,
)
from coati.testing.sample_layout import Anchor, link_list, old_page, page, pagination, paragraphs, section
from coati.testing.sample_region import (
    DEPARTMENTS,
    FIRST_NAMES,
    GLOSSARY,
    LAST_NAMES,
    LAST_YEAR,
    MONTHS,
    MUNICIPALITIES,
    QUESTIONS,
    TOPICS,
    prose,
    slug_of,
)
from coati.testing.site import Response

_DATASETS_PER_PAGE = 8
_NEWS = 60
_NEWS_PER_PAGE = 10
_PEOPLE = 40
_OLD_YEARS = range(2004, 2009)
_BULLETINS = 10

# Of the catalogue's entries, those that still list a file which was withdrawn.
_WITHDRAWN = 0.1
# Of the releases, those that point to the catalogue, and how many of the first have a copy of a file.
_NEWS_WITH_DATA = 0.2
_COPIES = 5
# Of the old bulletins, those that are still there, and those whose links are dead.
_OLD_PRESENT = 0.06
_OLD_DEAD = 0.45


@dataclass(frozen=True, slots=True)
class NewsItem:
    """A press release."""

    number: int
    title: str
    date: str
    dataset: Dataset

    @property
    def path(self) -> str:
        """The release's page."""
        return f"/news/{self.date[:4]}/{self.number}-{slug_of(self.title)}"


@dataclass(slots=True)
class Office:
    """What the office has, and the website that is being written."""

    rng: Random
    datasets: list[Dataset] = field(init=False)
    publications: list[Publication] = field(init=False)
    news: list[NewsItem] = field(init=False)
    responses: dict[str, Response] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Collect what there is to write about, newest news first."""
        self.datasets = make_datasets(self.rng)
        self.publications = make_publications(self.rng)
        self.news = []
        for number in range(_NEWS, 0, -1):
            dataset = self.rng.choice(self.datasets)
            year, month = LAST_YEAR - (_NEWS - number) // 24, (number * 7) % 12 + 1
            place, trend = self.rng.choice(MUNICIPALITIES), self.rng.choice(["more", "fewer", "as many"])
            title = f"{place}: {trend} {dataset.unit}"
            self.news.append(NewsItem(number, title, f"{year}-{month:02}", dataset))

    def add_page(self, path: str, html: str) -> None:
        """Put a page on the site."""
        self.responses[path] = Response.page(html)

    def add_file(self, file: DataFile) -> None:
        """Put a file on the site; one without an extension is sent as an attachment."""
        name = "" if file.path.endswith("." + file.extension) else file.name
        self.responses[file.path] = Response.file(file.media_type, file.body, name=name)


def write_home(office: Office) -> None:
    """Write the start page."""
    cards = "".join(
        f'<div class="card"><h2><a href="/topics/{topic.slug}/">{topic.title}</a></h2>'
        f"<p>{', '.join(topic.subtopics)}</p></div>"
        for topic in TOPICS
    )
    news = section("Latest news", link_list(_news_links(office.news[:5]), "latest"), "news-box")
    report = next(report for report in reversed(office.publications) if report.files)
    latest = section("New report", link_list([("/latest", report.title)], "latest"), "report-box")
    content = f'{paragraphs(office_motto())}<div class="cards">{cards}</div>'
    office.add_page("/", page("Figures for the islands", content, side=news + latest, kind="home"))


def office_motto() -> Sequence[str]:
    """Say what the office is for."""
    return [
        "The statistics office counts what happens on the Quillmark Islands and tells everybody who asks.",
        "All figures are free to use. New ones appear on weekdays at nine.",
    ]


def write_topics(office: Office) -> None:
    """Write a page a topic and a page a sub-topic; both point to entries of the catalogue."""
    trail: list[Anchor] = [("/topics/", "Topics")]
    links = [(f"/topics/{topic.slug}/", topic.title) for topic in TOPICS]
    office.add_page("/topics/", page("Topics", link_list(links, "topic-list"), trail=trail, kind="topics"))
    for topic in TOPICS:
        here: list[Anchor] = [*trail, (f"/topics/{topic.slug}/", topic.title)]
        own = [dataset for dataset in office.datasets if dataset.topic is topic]
        subtopics = [(f"/topics/{topic.slug}/{slug_of(name)}", name) for name in topic.subtopics]
        content = paragraphs(prose(office.rng, own[0].unit, 2)) + section(
            "In detail", link_list(subtopics, "subtopics"), "detail"
        )
        side = section(
            "Data", link_list([(entry.path, entry.title) for entry in own[:3]], "data-links"), "box"
        )
        office.add_page(here[-1][0], page(topic.title, content, trail=here, side=side, kind="topic"))
        for number, (path, name) in enumerate(subtopics):
            entry = own[number % len(own)]
            # The catalogue's own short addresses, as they stand in printed reports.
            short = f"/dataset/{office.datasets.index(entry) + 1}" if number == 0 else entry.path
            figure = f'<figure><img src="/media/{slug_of(name)}.svg" alt="Chart: {escape(name)}"></figure>'
            text = paragraphs(prose(office.rng, entry.unit, 3))
            box = f'<p class="box">Data: <a href="{short}">{escape(entry.title)}</a></p>'
            office.add_page(path, page(name, text + figure + box, trail=here, kind="subtopic"))


def write_catalogue(office: Office) -> None:
    """Write the data catalogue: its pages, its filters, its entries, and their files."""
    trail: list[Anchor] = [("/data/", "Data catalogue")]
    filters = section(
        "By topic",
        link_list([(f"/data/?topic={topic.slug}", topic.title) for topic in TOPICS], "facet"),
        "box",
    )
    formats = [(f"/data/?format={name}", name.upper()) for name in MEDIA_TYPES if name != "pdf"]
    filters += section("By format", link_list(formats, "facet"), "box")
    starts = range(0, len(office.datasets), _DATASETS_PER_PAGE)
    for number, start in enumerate(starts, start=1):
        entries = _entries(office.datasets[start : start + _DATASETS_PER_PAGE])
        path = f"/data/?page={number}" if number > 1 else "/data/"
        content = entries + pagination("/data/", len(starts), number)
        office.add_page(path, page("Data catalogue", content, trail=trail, side=filters, kind="catalogue"))
    for topic in TOPICS:
        entries = _entries([entry for entry in office.datasets if entry.topic is topic])
        title = f"Data catalogue: {topic.title}"
        office.add_page(f"/data/?topic={topic.slug}", page(title, entries, trail=trail, side=filters))
    for path, name in formats:
        wanted = name.lower()
        entries = _entries([e for e in office.datasets if any(f.extension == wanted for f in e.files)])
        office.add_page(path, page(f"Data catalogue: {name}", entries, trail=trail, side=filters))
    for entry in office.datasets:
        _write_entry(office, entry, trail)


def _entries(datasets: Sequence[Dataset]) -> str:
    items = []
    for entry in datasets:
        badges = " ".join(f'<span class="badge">{file.extension.upper()}</span>' for file in entry.files)
        items.append(
            f'<li class="dataset"><h2><a href="{entry.path}">{escape(entry.title)}</a></h2>'
            f'<p class="meta">{entry.topic.title}, in {entry.unit}. {badges or "On request"}</p></li>'
        )
    return f'<ol class="dataset-list">{"".join(items)}</ol>'


def _write_entry(office: Office, entry: Dataset, trail: Sequence[Anchor]) -> None:
    head = "".join(f"<th>{escape(column)}</th>" for column in entry.table.columns)
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in entry.table.rows[-6:])
    preview = f'<table class="preview"><tr>{head}</tr>{rows}</table>'
    files = _file_table(entry.files, dead=office.rng.random() < _WITHDRAWN, slug=entry.slug)
    offer = files or f'<p class="request">On request: <a href="/about/contact">{DEPARTMENTS[2]}</a>.</p>'
    number = office.datasets.index(entry) + 1
    metadata = f'<p class="meta"><a href="{entry.path}/metadata">About these data</a></p>'
    content = (
        f'<div class="dataset-page" id="dataset-{number}">{paragraphs(prose(office.rng, entry.unit, 1))}'
        f"{preview}{section('Downloads', offer, 'downloads')}{metadata}</div>"
    )
    others = office.rng.sample([other for other in office.datasets if other is not entry], 3)
    side = section("Also asked for", link_list([(e.path, e.title) for e in others], "similar"), "box")
    office.add_page(entry.path, page(entry.title, content, trail=trail, side=side, kind="dataset"))
    notes = paragraphs(prose(office.rng, entry.unit, 2))
    about = page(f"About: {entry.title}", notes, trail=[*trail, (entry.path, entry.title)], kind="metadata")
    office.add_page(f"{entry.path}/metadata", about)
    for file in entry.files:
        office.add_file(file)


def _file_table(files: Sequence[DataFile], *, dead: bool, slug: str) -> str:
    """List files to download; some pages still list one that was withdrawn."""
    rows = [(file.path, file.name, f"{len(file.body) / 1000:.1f} kB") for file in files]
    if dead:
        rows.append((f"/data/files/{slug}-2011.csv", f"{slug}-2011.csv", "older figures"))
    if not rows:
        return ""
    lines = "".join(
        f'<tr class="file"><td class="name"><a class="download" href="{path}">{escape(name)}</a></td>'
        f'<td class="size">{size}</td></tr>'
        for path, name, size in rows
    )
    return f'<table class="files">{lines}</table>'


def write_reports(office: Office) -> None:
    """Write the publications, by year, with their files."""
    trail: list[Anchor] = [("/publications/", "Publications")]
    years = sorted({report.year for report in office.publications}, reverse=True)
    index = link_list([(f"/publications/{year}/", f"Reports of {year}") for year in years], "years")
    office.add_page("/publications/", page("Publications", index, trail=trail, kind="publications"))
    for year in years:
        here: list[Anchor] = [*trail, (f"/publications/{year}/", str(year))]
        reports = [report for report in office.publications if report.year == year]
        rows = "".join(
            f'<tr><td class="title"><a href="{report.path}">{escape(report.title)}</a></td>'
            f'<td class="state">{"online" if report.files else "print only"}</td></tr>'
            for report in reports
        )
        listing = f'<table class="reports">{rows}</table>'
        office.add_page(here[-1][0], page(f"Reports of {year}", listing, trail=here, kind="year"))
        for report in reports:
            documents = "".join(
                f'<li><a class="{file.extension}" href="{file.path}">{escape(file.name)}</a></li>'
                for file in report.files
            )
            block = f'<ul class="documents">{documents}</ul>' if documents else "<p>Only in print.</p>"
            text = paragraphs(prose(office.rng, report.unit, 2))
            content = f'<div class="report"><div class="abstract">{text}</div>{block}</div>'
            office.add_page(report.path, page(report.title, content, trail=here, kind="publication"))
            for file in report.files:
                office.add_file(file)


def write_news(office: Office) -> None:
    """Write the press releases and the pages that list them, older ones behind."""
    trail: list[Anchor] = [("/news/", "News")]
    starts = range(0, len(office.news), _NEWS_PER_PAGE)
    for number, start in enumerate(starts, start=1):
        teasers = "".join(
            f'<article class="teaser"><time>{item.date}</time>'
            f'<h2><a href="{item.path}">{escape(item.title)}</a></h2></article>'
            for item in office.news[start : start + _NEWS_PER_PAGE]
        )
        path = f"/news/?page={number}" if number > 1 else "/news/"
        content = f'<div class="teasers">{teasers}</div>{pagination("/news/", len(starts), number)}'
        office.add_page(path, page("News", content, trail=trail, kind="news"))
    for number, item in enumerate(office.news):
        nearby = [office.news[i] for i in (number - 1, number + 1) if 0 <= i < len(office.news)]
        turn = "".join(f'<a class="turn" href="{other.path}">{other.date}</a> ' for other in nearby)
        see = [(f"/topics/{item.dataset.topic.slug}/", item.dataset.topic.title)]
        if office.rng.random() < _NEWS_WITH_DATA:
            see.append((item.dataset.path, f"Data: {item.dataset.title}"))
        text = paragraphs(prose(office.rng, item.dataset.unit, 3)) + _copy(office, item)
        content = (
            f'<article class="release" id="release-{item.number}"><time>{item.date}</time>{text}</article>'
        )
        content += f'<nav class="turn">{turn}</nav>'
        side = section("See also", link_list(see, "see-also"), "box")
        office.add_page(item.path, page(item.title, content, trail=trail, side=side, kind="release"))


def _copy(office: Office, item: NewsItem) -> str:
    """Attach a file of the catalogue once more, under an address of its own, to the first releases."""
    if office.news.index(item) >= _COPIES or not item.dataset.files:
        return ""
    file = item.dataset.files[0]
    copy = DataFile(f"/news/attachments/{item.number}/{file.name}", file.name, file.body)
    office.add_file(copy)
    return f'<p class="attachment">Table: <a class="file" href="{copy.path}">{escape(copy.name)}</a></p>'


def _news_links(items: Sequence[NewsItem]) -> list[Anchor]:
    return [(item.path, item.title) for item in items]


def write_people(office: Office) -> None:
    """Write the directory of the staff, by department."""
    trail: list[Anchor] = [("/about/", "About us")]
    about: list[Anchor] = [
        ("/about/contact", "Contact"),
        ("/about/imprint", "Imprint"),
        ("/about/accessibility", "Accessibility"),
    ]
    departments = [(f"/about/{slug_of(name)}/", name) for name in DEPARTMENTS]
    content = paragraphs(office_motto()) + link_list(departments, "departments") + link_list(about, "plain")
    office.add_page("/about/", page("About us", content, trail=trail, kind="about"))
    for path, title in about:
        office.add_page(path, page(title, paragraphs(office_motto()), trail=trail))
    # Ten first names and ten last names, shifted against each other: nobody has another's name.
    names = [f"{FIRST_NAMES[i % 10]} {LAST_NAMES[(i + i // 10) % 10]}" for i in range(_PEOPLE)]
    for number, (path, department) in enumerate(departments):
        members = names[number :: len(departments)]
        rows = "".join(
            f'<tr><td><a href="/about/people/{slug_of(name)}">{name}</a></td><td>{department}</td></tr>'
            for name in members
        )
        table = f'<table class="staff">{rows}</table>'
        office.add_page(path, page(department, table, trail=trail, kind="department"))
        for name in members:
            here = [*trail, (path, department)]
            text = f"<p>{name} works in {department}.</p>"
            card = f'<div class="person" id="person-{names.index(name)}">{text}</div>'
            office.add_page(f"/about/people/{slug_of(name)}", page(name, card, trail=here, kind="person"))


def write_calendar(office: Office) -> None:
    """Write the release calendar, two years of months, each with a link to its neighbours."""
    trail: list[Anchor] = [("/calendar/", "Release calendar")]
    months = [(year, month) for year in (LAST_YEAR - 1, LAST_YEAR) for month in range(1, 13)]
    for position, (year, month) in enumerate(months):
        nearby = [months[i] for i in (position - 1, position + 1) if 0 <= i < len(months)]
        turn = "".join(
            f'<a class="month" href="/calendar/{y}/{m:02}">{MONTHS[m - 1]} {y}</a> ' for y, m in nearby
        )
        due = [item for item in office.news if item.date == f"{year}-{month:02}"]
        table = "".join(
            f'<tr><td class="day">{3 * i + 2}</td>'
            f'<td><a href="{item.path}">{escape(item.title)}</a></td></tr>'
            for i, item in enumerate(due)
        )
        content = f'<nav class="turn">{turn}</nav><table class="month">{table}</table>'
        title = f"Releases in {MONTHS[month - 1]} {year}"
        office.add_page(f"/calendar/{year}/{month:02}", page(title, content, trail=trail, kind="calendar"))
    office.responses["/calendar/"] = Response.redirect(f"/calendar/{LAST_YEAR}/12", 302)


def write_explanations(office: Office) -> None:
    """Write the questions, the glossary and the site map."""
    books = (("/faq/", "Questions", QUESTIONS), ("/glossary/", "Glossary", GLOSSARY))
    for root, title, terms in books:
        links = [(root + slug_of(term), term) for term in terms]
        office.add_page(root, page(title, link_list(links, title.lower()), trail=[(root, title)]))
        for path, term in links:
            text = paragraphs(prose(office.rng, "answers", 1))
            office.add_page(path, page(term, text, trail=[(root, title)], kind="explanation"))
    links = [(f"/topics/{topic.slug}/", topic.title) for topic in TOPICS]
    links += [("/data/", "Data catalogue"), ("/publications/", "Publications"), ("/news/", "News")]
    links += [("/search?q=population", "Search"), ("/internal/minutes", "For members of the council")]
    office.add_page("/sitemap", page("Site map", link_list(links, "sitemap")))


def write_old_website(office: Office) -> None:
    """Write what is left of the old website: few bulletins are still there, many links are dead."""
    years = "".join(f'<LI><A HREF="{year}/index.html">Bulletins {year}</A>' for year in _OLD_YEARS)
    years += '<LI><A HREF="mirror/">Mirror in Saltgate</A>'
    office.add_page("/archive/", old_page("Statistics of the islands", f"<UL>{years}</UL>"))
    for year in _OLD_YEARS:
        lines = []
        for number in range(1, _BULLETINS + 1):
            lines.append(f'<LI><A HREF="bulletin{number:02}.html">Bulletin {number}</A>')
            lot = office.rng.random()
            text = paragraphs(prose(office.rng, "persons", 2))
            if lot < _OLD_PRESENT:
                office.add_file(make_bulletin(office.rng, year, number))
                text += f'<P><A HREF="bull{number:02}.pdf">Print version</A>'
            elif lot < _OLD_PRESENT + _OLD_DEAD:
                text += (
                    f'<P><A HREF="tables/t{number:02}.xls">Table</A> <A HREF="../maps/m{number}.html">Map</A>'
                )
            body = old_page(f"Bulletin {number}, {year}", text)
            office.add_page(f"/archive/{year}/bulletin{number:02}.html", body)
        office.add_page(
            f"/archive/{year}/index.html", old_page(f"Bulletins {year}", f"<UL>{''.join(lines)}</UL>")
        )
