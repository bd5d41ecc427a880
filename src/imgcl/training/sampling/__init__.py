"""Pieces of graphs too large to train on whole: sampled neighbourhoods, features read by rows, row ranges."""

from imgcl.graph.rows import scratch_array
from imgcl.training.sampling.block import SampledBlock, sampled_block
from imgcl.training.sampling.features import FeatureSource
from imgcl.training.sampling.inference import encode_by_rows
from imgcl.training.sampling.neighbours import Neighbourhood, NeighbourSampler

__all__ = [
    "FeatureSource",
    "NeighbourSampler",
    "Neighbourhood",
    "SampledBlock",
    "encode_by_rows",
    "sampled_block",
    "scratch_array",
]
