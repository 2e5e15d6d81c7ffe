"""Re-crawling: find what is new on pages that are known, with few visits.

**How a watch maps to the contract.** Time is cut into cycles (`cycles`). In each one the strategy
(`watch.Watch`) requests k of the watched pages, and a *scheduler* says which. It has only the two verbs that
every strategy has:

- The first ``choose`` of a cycle lets the scheduler train and rank (`scheduler.Scheduler.begin`). This and
  the next ones return a `Request` each, until k pages were requested. Then ``choose`` answers ``Later(start
  of the next cycle)``, which leaves no trace. A driver need not know of cycles: it waits.
- ``observe`` gets a `Page` with all its out-links as hashes, `Unchanged`, or a failure. The hashes
  tell what is new, since a log keeps only links that were not known before; whether a link is relevant is
  decided when it is first seen, from its URL and texts, and kept.
- Before the first cycle comes a **first look**: every page once. It defines what is known, is not counted and
  brings nothing new. It may last longer than a cycle; no cycle begins meanwhile. Pages that are added later
  get theirs (`watch.Watch.add_pages`).
- A cycle during which the watch did not run is skipped: its number comes from the time, not from counting.
- ``redo`` begins the cycle as ``choose`` would, and takes the logged page. So a watch that was killed
  continues in the middle of its cycle.

**How a live watch uses it.** The run's log, its snapshots and the conditional requests are those of any
crawl, since the registry row declares that it needs all out-links (`coati.assembly.Need.OUT_LINKS`). ``watch
--every 1h`` drives the strategy until somebody stops it; ``--once`` ends when ``choose`` answers `Later` with
nothing in flight. `watch.Watch.new_links` lists what the visits since the last call brought: the URLs to
follow, outside the k of the cycle, by whatever strategy the site has. The strategy itself requests only
watched pages. `watch.Watch.cycle` is the number of the cycle in progress, for a line per cycle.

**Schedulers** are small: `scheduler.Ranking` walks down an order that is made once per cycle, and most of
them only say what the order is. Statistics that several of them need (visits, means over a window, ages) are
in `visits`, what is known of links in `links`, which pages of a site hold the same links in `similar_pages`.
"""
