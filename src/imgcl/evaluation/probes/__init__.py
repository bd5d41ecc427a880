"""Ways to fit the linear classifiers, all on L2-normalised frozen embeddings."""

from imgcl.evaluation.probes.batched_probe import PENALTIES, batched
from imgcl.evaluation.probes.pygcl_probe import pygcl
from imgcl.evaluation.probes.sklearn_probe import sklearn
from imgcl.evaluation.tasks import Probe

__all__ = ["PENALTIES", "PROBES", "batched", "pygcl", "sklearn"]

PROBES: dict[str, Probe] = {"batched": batched, "sklearn": sklearn, "pygcl": pygcl}
