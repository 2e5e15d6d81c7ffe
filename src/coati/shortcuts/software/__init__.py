"""The profiles that come with Coati, one file per kind of software."""
