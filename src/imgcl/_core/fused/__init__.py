"""Operations on rows that read them once and recompute in the backward what torch would store."""

from imgcl._core.fused.bias_activation import PReLU, bias_activation
from imgcl._core.fused.cosine import mean_cosine
from imgcl._core.fused.norm_activation import norm_activation
from imgcl._core.fused.prediction import prediction_cosine

__all__ = ["PReLU", "bias_activation", "mean_cosine", "norm_activation", "prediction_cosine"]
