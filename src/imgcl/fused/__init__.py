"""Operations on rows that read them once and recompute in the backward what torch would store."""

from imgcl.fused.bias_activation import PReLU, bias_activation
from imgcl.fused.cosine import mean_cosine
from imgcl.fused.norm_activation import norm_activation
from imgcl.fused.prediction import prediction_cosine

__all__ = ["PReLU", "bias_activation", "mean_cosine", "norm_activation", "prediction_cosine"]
