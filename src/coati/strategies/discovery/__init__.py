"""From keywords to data repositories: DSDD (CIKM 2021), what it was compared with, and ours."""
