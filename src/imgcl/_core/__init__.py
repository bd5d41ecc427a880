"""Private machinery: errors, seeds, file safety, compiled kernels. Nothing here is part of the public interface."""
