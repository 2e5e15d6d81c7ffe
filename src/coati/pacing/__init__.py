"""When a host may be asked, and which request is sent when. Time is an argument; nothing here waits."""
