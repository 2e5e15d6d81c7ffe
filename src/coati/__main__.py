"""``python -m coati``: the same as the command ``coati``."""

from coati.cli import main

if __name__ == "__main__":
    main()
