"""When a host may get a request, and which request is sent when. Time is an argument; nothing here waits."""
