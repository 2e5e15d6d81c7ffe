"""What Coati knows of the web as such: URLs, pages, links, media types, rules. Pure functions of bytes."""
