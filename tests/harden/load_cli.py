"""A child process: the command line, with the data set ``pubmed`` served from another address.

``python load_cli.py ADDRESS ARGUMENT...`` is ``imgcl ARGUMENT...``.
"""

from __future__ import annotations

import sys
from dataclasses import replace

SIZES = {"nodes": 230, "features": 24, "classes": 3}  # of what is served


def main() -> None:
    from imgcl.cli import main as imgcl
    from imgcl.data.public import PUBLIC

    address = sys.argv.pop(1)
    PUBLIC["pubmed"] = replace(PUBLIC["pubmed"], url=address, fingerprint=None, **SIZES)
    imgcl()


if __name__ == "__main__":
    main()
