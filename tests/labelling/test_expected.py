import warnings

import numpy as np

from imgcl.labelling.expected import expect


def test_many_classes_and_few_labels_are_nothing_to_warn_of():
    codes = np.arange(30) % 20  # scikit-learn would ask whether this is a regression
    rows = np.eye(20, dtype=np.float32)[codes]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = expect(rows, codes)
    assert found.classes.tolist() == codes.tolist()
    assert (found.margin > 0).all()
