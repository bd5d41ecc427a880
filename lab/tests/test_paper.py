"""What the paper reports, as it is printed there."""

from imgcl_lab.paper import paper_accuracy


def test_papers_figures() -> None:
    assert paper_accuracy("gcn", "dblp") == 51.55
    assert paper_accuracy("gcn", "dblp", balanced=True) == 73.11
    assert paper_accuracy("deepwalk", "amazon-computers") == 69.67
    assert paper_accuracy("deepwalk", "amazon-computers", balanced=True) is None
    assert paper_accuracy("gbt", "cora") is None
    assert paper_accuracy("mvgrl", "wiki-cs", balanced=True) == 60.85
