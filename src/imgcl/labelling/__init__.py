"""Which nodes to label: the paper's selection, spent where labels cost money.

A strategy is one function ``(task) -> nodes``, most useful first, and its name in :data:`STRATEGIES`.
"""

from imgcl.labelling.files import LabelFile
from imgcl.labelling.progress import Progress, progress
from imgcl.labelling.strategies import STRATEGIES, Strategy
from imgcl.labelling.suggest import suggest
from imgcl.labelling.task import LabellingTask

__all__ = ["STRATEGIES", "LabelFile", "LabellingTask", "Progress", "Strategy", "progress", "suggest"]
