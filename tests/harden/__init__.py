"""Suites that try to break the product: killed processes, damaged files, degenerate graphs, load.

A suite is a function ``run(n) -> Outcome`` with the decorator :func:`harden.suites.suite`; any module of this package
may hold some. ``make harden`` runs them in full and prints one table, ``test_slices.py`` runs a slice of each in CI.
"""
