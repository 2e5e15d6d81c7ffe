"""Shortcuts: what the software behind a site already knows, one small file per kind of software.

A *profile* (`coati.shortcuts.profile`) recognises a software from a page, says which URLs of its API
list files, and reads their answers. All of it is pure: bytes in, links out. A URL of an API is one more
link that a strategy may follow, under a tag path of its own, so it learns by itself what the answers are
worth.
"""
