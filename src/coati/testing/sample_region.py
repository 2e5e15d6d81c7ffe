"""The Quillmark Islands, which do not exist: their topics, data sets, people and figures.

The sample site is about them. All names are made up.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from coati.testing.office_files import SheetTable

MUNICIPALITIES = (
    "Ostermere", "Tarn Hollow", "Little Wexby", "Dunsloe", "Marrowfield", "Saltgate", "Upper Finch",
    "Brackenholt", "Quillport", "Ravelstrand",
)  # fmt: skip

FIRST_YEAR, LAST_YEAR = 2012, 2024

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class OfficeTopic:
    """A subject of the office: its sub-topics and the data sets it publishes, each with its unit."""

    slug: str
    title: str
    subtopics: tuple[str, ...]
    datasets: tuple[tuple[str, str], ...]


TOPICS = (
    OfficeTopic(
        "population",
        "Population",
        ("Births and deaths", "Moving house", "Households", "Forecasts"),
        (
            ("Residents by municipality", "residents"),
            ("Live births", "births"),
            ("Arrivals from the mainland", "persons"),
            ("Households by size", "households"),
            ("Residents over eighty", "residents"),
        ),
    ),
    OfficeTopic(
        "economy",
        "Economy and work",
        ("Businesses", "Wages", "Prices", "Trade"),
        (
            ("Registered businesses", "businesses"),
            ("Median monthly wage", "crowns"),
            ("Consumer prices", "index"),
            ("Goods through the harbours", "tonnes"),
            ("Job seekers", "persons"),
        ),
    ),
    OfficeTopic(
        "housing",
        "Building and housing",
        ("Permits", "Rents", "Empty homes", "Heating"),
        (
            ("Building permits", "permits"),
            ("Average rent", "crowns"),
            ("Empty homes", "homes"),
            ("Homes by heating system", "homes"),
            ("Completed homes", "homes"),
        ),
    ),
    OfficeTopic(
        "transport",
        "Transport",
        ("Ferries", "Buses", "Cycling", "Road safety"),
        (
            ("Ferry passengers", "passengers"),
            ("Bus departures", "departures"),
            ("Bicycle counts", "bicycles"),
            ("Road accidents", "accidents"),
            ("Registered vehicles", "vehicles"),
        ),
    ),
    OfficeTopic(
        "environment",
        "Environment",
        ("Water", "Waste", "Air", "Woods"),
        (
            ("Drinking water use", "cubic metres"),
            ("Household waste", "tonnes"),
            ("Days with poor air", "days"),
            ("Wooded area", "hectares"),
            ("Rainfall", "millimetres"),
        ),
    ),
    OfficeTopic(
        "education",
        "Education",
        ("Schools", "Nurseries", "Libraries", "Apprentices"),
        (
            ("Pupils by school year", "pupils"),
            ("Nursery places", "places"),
            ("Library loans", "loans"),
            ("New apprentices", "apprentices"),
            ("Teachers", "teachers"),
        ),
    ),
    OfficeTopic(
        "health",
        "Health and care",
        ("Clinics", "Prevention", "Care homes", "Emergency calls"),
        (
            ("Clinic visits", "visits"),
            ("Vaccinations", "doses"),
            ("Care home places", "places"),
            ("Emergency calls", "calls"),
            ("Registered dentists", "dentists"),
        ),
    ),
    OfficeTopic(
        "tourism",
        "Tourism and leisure",
        ("Overnight stays", "Museums", "Beaches", "Clubs"),
        (
            ("Overnight stays", "nights"),
            ("Museum visitors", "visitors"),
            ("Bathing water quality", "samples"),
            ("Members of sports clubs", "members"),
            ("Guest beds", "beds"),
        ),
    ),
)

DEPARTMENTS = ("Directorate", "Surveys", "Data Service", "Publications", "Fieldwork", "Archive WorkerCache")

FIRST_NAMES = (
    "Ada", "Bram", "Cleo", "Dorrit", "Edwy", "Fenna", "Gussie", "Hob", "Isolde", "Jory",
)  # fmt: skip
LAST_NAMES = (
    "Quillfeather", "Tallymark", "Ledgerby", "Countwright", "Abacombe", "Dotterby", "Chartsworthy",
    "Plotwick", "Tablestone", "Sumwhistle",
)  # fmt: skip

QUESTIONS = (
    "May I use the figures in my newspaper?", "Why do two tables differ?", "What is a household?",
    "How are figures rounded?", "When is the next release?", "Who may answer a survey?",
    "How do I cite a table?", "What does preliminary mean?", "Why are some cells empty?",
    "How far back do the series go?", "Can I have the figures on paper?", "What does the index compare?",
)  # fmt: skip

GLOSSARY = (
    "Average", "Base year", "Census", "Cohort", "Crown", "Deflator", "Estimate", "Forecast", "Gross tonnage",
    "Household", "Index", "Median", "Municipality", "Overnight stay", "Panel", "Quarter", "Rounding",
    "Sample", "Time series", "Weight",
)  # fmt: skip

_OPENINGS = (
    "The islands counted {number:,} {unit} in {year}, {change} than a year before.",
    "In {year} the number of {unit} stood at {number:,}; that is {change} than in the previous year.",
    "{place} reported {number:,} {unit} for {year}, {change} than twelve months earlier.",
)
_MIDDLES = (
    "The largest part falls to {place}, followed by {other}.",
    "Among the ten municipalities, {place} stands out, while {other} hardly changed.",
    "The figures for {place} and {other} are preliminary and will be revised in spring.",
    "As in earlier years, {place} lies above the average of the islands and {other} below it.",
)
_ENDINGS = (
    "The office asks all who use the figures to name their source.",
    "The method was changed slightly; the notes explain how earlier years compare.",
    "The next release is planned for the coming quarter.",
    "Questions are answered by the Data Service on working days.",
)


def prose(rng: Random, unit: str, paragraphs: int) -> list[str]:
    """Write paragraphs about a unit, such as the office would."""
    written = []
    for _ in range(paragraphs):
        place, other = rng.sample(MUNICIPALITIES, 2)
        facts = {
            "number": rng.randrange(200, 90_000),
            "unit": unit,
            "year": rng.randint(FIRST_YEAR, LAST_YEAR),
            "change": f"{rng.uniform(0.2, 9):.1f} per cent {rng.choice(['more', 'fewer'])}",
            "place": place,
            "other": other,
        }
        sentences = (rng.choice(_OPENINGS), *rng.sample(_MIDDLES, 2), rng.choice(_ENDINGS))
        written.append(" ".join(sentence.format(**facts) for sentence in sentences))
    return written


def figures(rng: Random, title: str, unit: str) -> SheetTable:
    """Make up a table: a value for each municipality and year, each series on a slow walk."""
    rows = []
    for place in MUNICIPALITIES:
        value = rng.uniform(50, 20_000)
        for year in range(FIRST_YEAR, LAST_YEAR + 1):
            value *= rng.uniform(0.94, 1.08)
            rows.append((place, year, round(value)))
    return SheetTable(f"{title} in the Quillmark Islands", ("municipality", "year", unit), tuple(rows))


def slug_of(title: str) -> str:
    """Write a title as a part of a path.

    >>> slug_of("Births and deaths")
    'births-and-deaths'
    """
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())
