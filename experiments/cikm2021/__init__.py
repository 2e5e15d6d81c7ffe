"""The tables of the DSDD paper on generated webs."""
