"""Search engines: the contract that each of them keeps (`coati.search.provider`)."""
