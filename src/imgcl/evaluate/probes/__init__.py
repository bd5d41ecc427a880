"""Ways to fit the linear classifiers, all on L2-normalised frozen embeddings."""

from imgcl.evaluate.probes.batched_probe import PENALTIES, batched
from imgcl.evaluate.probes.pygcl_probe import pygcl
from imgcl.evaluate.probes.sklearn_probe import sklearn
from imgcl.evaluate.tasks import Probe

__all__ = ["PENALTIES", "PROBES", "batched", "pygcl", "sklearn"]

PROBES: dict[str, Probe] = {"batched": batched, "sklearn": sklearn, "pygcl": pygcl}
