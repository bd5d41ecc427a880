"""What ``imgcl predict`` does, with scikit-learn's own parts: embed, train on the labels you have, classify every node.

python examples/sklearn_pipeline.py
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import imgcl
from imgcl.evaluation import class_groups
from imgcl.imbalance import make_splits


def main(epochs: int = 40) -> pd.DataFrame:
    graph = imgcl.load_graph("digits")
    (split,) = make_splits(graph.y, "exp:20", splits=1)
    known = split.train  # the nodes whose labels you have: many zeros, few nines

    # Not in one pipeline: that hands every node to the classifier, and ImGCL refuses labels with gaps for that reason.
    embedding = imgcl.ImGCL("gbt", epochs=epochs, random_state=0).fit_transform(graph)
    probe = make_pipeline(Normalizer(), LogisticRegression(class_weight="balanced", max_iter=2000))
    search = GridSearchCV(
        probe,
        {"logisticregression__C": np.logspace(-2, 4, 7)},
        scoring="balanced_accuracy",
        cv=StratifiedKFold(2, shuffle=True, random_state=0),
    ).fit(embedding[known], graph.y[known])

    probability = search.predict_proba(embedding)
    predicted = search.classes_[probability.argmax(axis=1)]
    group = np.array(class_groups(np.bincount(graph.y[known])).of_class())
    return pd.DataFrame({"class": predicted, "probability": probability.max(axis=1), "group": group[predicted]})


if __name__ == "__main__":
    frame = main()
    print(frame.head())
    print(frame.groupby("group").size())
