"""``python -m imgcl``."""

from imgcl.cli import main

if __name__ == "__main__":
    main()
