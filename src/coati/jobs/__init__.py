"""What the commands do, as functions: each takes callbacks for progress and returns a result object.

`coati` itself offers them by name; a command parses, calls one of them and prints.
"""
