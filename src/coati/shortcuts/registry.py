"""All profiles by name, and one's own by its path."""

from __future__ import annotations

import inspect
from typing import Final

from coati.named_objects import made_by, require_members
from coati.shortcuts.profile import Profile
from coati.shortcuts.software.arcgis_hub import ArcgisHub
from coati.shortcuts.software.ckan import Ckan
from coati.shortcuts.software.dataverse import Dataverse
from coati.shortcuts.software.dcat import Dcat
from coati.shortcuts.software.dkan import Dkan
from coati.shortcuts.software.drupal import Drupal
from coati.shortcuts.software.dspace import Dspace
from coati.shortcuts.software.eprints import Eprints
from coati.shortcuts.software.geonetwork import GeoNetwork
from coati.shortcuts.software.invenio import InvenioRdm
from coati.shortcuts.software.nada import Nada
from coati.shortcuts.software.oai_pmh import OaiPmh
from coati.shortcuts.software.opendatasoft import OpenDataSoft
from coati.shortcuts.software.plone import Plone
from coati.shortcuts.software.pxweb import PxWeb
from coati.shortcuts.software.schema_org import SchemaOrg
from coati.shortcuts.software.sdmx import Sdmx
from coati.shortcuts.software.sharepoint import SharePoint
from coati.shortcuts.software.sitemap_only import JOOMLA, TYPO3
from coati.shortcuts.software.socrata import Socrata
from coati.shortcuts.software.wordpress import WordPress

# The order in which they are tried: catalogues before what they may be built upon.
PROFILES: Final[tuple[Profile, ...]] = (
    Ckan(), Dkan(), Socrata(), OpenDataSoft(), ArcgisHub(), Dataverse(), InvenioRdm(), Dspace(), Eprints(),
    GeoNetwork(), Nada(), PxWeb(), Sdmx(), WordPress(), Drupal(), Plone(), TYPO3, JOOMLA, SharePoint(),
    Dcat(), OaiPmh(), SchemaOrg(),
)  # fmt: skip

_MEMBERS = ("name", "title", "written_from", "recognise", "reads", "read")


def checked_profile(made: object, path: str) -> Profile:
    """Return the profile that a user named by its path: a class without arguments, or an instance.

    Raises `ConfigError` where it is not a profile.
    """
    if inspect.isclass(made):
        made = made_by(made, "profile", path)
    require_members(made, "profile", path, _MEMBERS)
    profile: Profile = made  # type: ignore[assignment]  # its members were looked for just now
    return profile
