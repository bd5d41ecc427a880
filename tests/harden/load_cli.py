"""A child process: the command line, with a small graph from another address as the data set ``pubmed``.

``python load_cli.py ADDRESS ARGUMENT...`` is ``imgcl ARGUMENT...``.
"""

from __future__ import annotations

import sys
from dataclasses import replace

SERVED = {"class_sizes": [150, 60, 20], "n_features": 24, "mean_degree": 6, "seed": 5}  # of synthetic_graph


def main() -> None:
    from imgcl.cli import main as imgcl
    from imgcl.data.public import PUBLIC

    sizes = {
        "nodes": sum(SERVED["class_sizes"]),
        "features": SERVED["n_features"],
        "classes": len(SERVED["class_sizes"]),
    }
    PUBLIC["pubmed"] = replace(PUBLIC["pubmed"], url=sys.argv.pop(1), fingerprint=None, **sizes)
    imgcl()


if __name__ == "__main__":
    main()
