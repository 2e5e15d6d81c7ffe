"""What Coati is tested with, for everybody: made-up sites, a server for them, and checks of the contracts."""

from coati.testing.api_answers import ApiFile
from coati.testing.apis import Api, ApiState, ArchiveWithApi, with_api
from coati.testing.checked_crawl import ContractError
from coati.testing.checks import check_policy, check_strategy, default_sites
from coati.testing.generator import generate_site
from coati.testing.host_web import HostWeb
from coati.testing.paper_sites import paper_site_parameters
from coati.testing.responder import Responder
from coati.testing.sample_site import sample_site
from coati.testing.server import SeenRequest, SiteServer, serve
from coati.testing.server_process import ServerProcess, serve_in_process
from coati.testing.site import Response, Site, body_of
from coati.testing.site_parameters import SiteParameters
from coati.testing.stub_engine import HttpEngine, IndexedPage, StubEngine, engine_site
from coati.testing.web_parameters import WebParameters

__all__ = [
    "Api",
    "ApiFile",
    "ApiState",
    "ArchiveWithApi",
    "ContractError",
    "HostWeb",
    "HttpEngine",
    "IndexedPage",
    "Responder",
    "Response",
    "SeenRequest",
    "ServerProcess",
    "Site",
    "SiteParameters",
    "SiteServer",
    "StubEngine",
    "WebParameters",
    "body_of",
    "check_policy",
    "check_strategy",
    "default_sites",
    "engine_site",
    "generate_site",
    "paper_site_parameters",
    "sample_site",
    "serve",
    "serve_in_process",
    "with_api",
]
