from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from imgcl._core.errors import DataNotFoundError, InputError
from imgcl.evaluation import CLASSIFIERS, align_labels, predict, read_labels

Blobs = tuple[NDArray[np.float32], NDArray[np.int64]]


def some_labels(y: NDArray[np.int64], per_class: tuple[int, ...] = (40, 20, 10, 5)) -> dict[int, str]:
    return {int(i): "dcba"[k] for k, n in enumerate(per_class) for i in np.flatnonzero(y == k)[:n]}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_node_gets_class_probabilities_and_rank(name: str, blobs: Blobs) -> None:
    Z, y = blobs
    frame = predict(Z, some_labels(y), name)
    assert frame.columns.tolist() == ["node", "class", "p_a", "p_b", "p_c", "p_d", "rank", "given"]
    assert len(frame) == len(Z)
    p = frame[["p_a", "p_b", "p_c", "p_d"]].to_numpy()
    assert np.allclose(p.sum(axis=1), 1)
    assert frame["class"].tolist() == [*np.array(list("abcd"))[p.argmax(axis=1)]]
    assert sorted(frame["rank"]) == list(range(1, len(Z) + 1))
    assert frame["given"].sum() == 75
    truth = np.array(list("dcba"))[y]
    assert (frame["class"] == truth).mean() > 0.7
    assert (truth[frame["rank"] <= 50] == "a").mean() > 0.4  # of the rarest class, which 10 % of the nodes have


def test_keys_are_names_or_numbers(blobs: Blobs) -> None:
    Z, y = blobs
    names = [f"n{i}" for i in range(len(Z))]
    by_number = predict(Z, some_labels(y))
    by_name = predict(Z, {f"n{i}": label for i, label in some_labels(y).items()}, node_names=names)
    assert by_name["class"].tolist() == by_number["class"].tolist()
    assert by_name["node"].tolist() == names
    aligned = align_labels(some_labels(y), len(Z))
    assert predict(Z, aligned)["p_a"].tolist() == by_number["p_a"].tolist()


def test_few_labels(blobs: Blobs) -> None:
    Z, y = blobs
    frame = predict(Z, some_labels(y, (2, 1, 1, 1)))
    assert set(frame["class"]) <= set("abcd")
    with pytest.raises(InputError, match="the class has fewer than two labels to choose it on"):
        predict(Z, some_labels(y, (2, 1, 1, 1)), decision="flag-rate:5%")
    with pytest.raises(InputError, match="every class has a single label"):
        predict(Z, some_labels(y, (1, 1, 1, 1)))


def test_wrong_use(blobs: Blobs) -> None:
    Z, y = blobs
    with pytest.raises(InputError, match="node 'x', which is not a node number"):
        predict(Z, {"x": "a", 1: "b"})
    with pytest.raises(InputError, match="node '900', which is not a node number"):
        predict(Z, {"900": "a", 1: "b"})
    with pytest.raises(InputError, match="predictions come from one"):
        predict(Z, some_labels(y), "plain,pbs")
    with pytest.raises(InputError, match="800 rows but there are 3 labels"):
        predict(Z, ["a", "b", "a"])
    with pytest.raises(InputError, match="2 node names"):
        predict(Z, some_labels(y), node_names=["a", "b"])


def test_labels_file(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text('node,label\nn1,tea\n"n,2",salt\nn3,\n', encoding="utf-8")
    assert read_labels(file) == {"n1": "tea", "n,2": "salt", "n3": ""}
    file.write_text("0,tea\n1,salt\n", encoding="utf-8")
    assert read_labels(file) == {"0": "tea", "1": "salt"}
    file.write_text("id,kind\n0,tea\n1,-1\n2,NA\n3,nan\n", encoding="utf-8")
    assert read_labels(file, []) == {"0": "tea", "1": "", "2": "", "3": ""}
    file.write_text("0\n", encoding="utf-8")
    with pytest.raises(InputError, match="row 1 is '0': expected node,label"):
        read_labels(file)
    file.write_text("0,a\n0,b\n", encoding="utf-8")
    with pytest.raises(InputError, match="node '0' has two labels"):
        read_labels(file)
    with pytest.raises(DataNotFoundError, match="no labels at"):
        read_labels(tmp_path / "none.csv")


def test_a_wide_table_is_refused_unless_its_second_column_is_the_label(tmp_path: Path) -> None:
    file = tmp_path / "accounts.csv"
    for header, first in (("id,age,status", "a"), ("account,age,status", "a"), ("account,age,status", "0")):
        file.write_text(f"{header}\n{first},31,ok\n", encoding="utf-8")
        with pytest.raises(
            InputError, match=r"has 3 columns, and the second is 'age', not the label: give .* node,label"
        ):
            read_labels(file, ["a", "b"] if first == "a" else [])
        assert read_labels(file, ["a", "b"], label_column="status") == {first: "ok"}
    file.write_text("a,ok,seen\nb,banned,\n", encoding="utf-8")
    assert read_labels(file, ["a", "b"]) == {"a": "ok", "b": "banned"}
    file.write_text("node,class,p_ok\na,ok,0.9\n", encoding="utf-8")
    assert read_labels(file, ["a", "b"]) == {"a": "ok"}
    file.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"accounts\.csv is empty"):
        read_labels(file, ["a", "b"])


def test_a_single_class_is_called_by_its_name(blobs: Blobs) -> None:
    with pytest.raises(InputError, match="every label is 'tea': a classifier needs at least two classes"):
        predict(blobs[0], np.zeros(len(blobs[0]), dtype=int), class_names=["tea", "salt"])


def test_a_first_row_is_dropped_only_when_it_cannot_be_a_label(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("id,tea\nb,salt\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"row 1 is 'id,tea', .* the label of node 'id': begin .* the line node,label"):
        read_labels(file, ["id", "b"])
    assert read_labels(file, ["a", "b"]) == {"b": "salt"}
    with pytest.warns(UserWarning, match=r"row 1 \(id,tea\) is taken for a header"):
        assert read_labels(file) == {"b": "salt"}
    file.write_text("node,label\nid,tea\nnode,salt\n", encoding="utf-8")
    assert read_labels(file, ["id", "node"]) == {"id": "tea", "node": "salt"}
    file.write_text("name,class\nb,salt\n", encoding="utf-8")
    assert read_labels(file) == read_labels(file, ["a", "b"]) == {"b": "salt"}
    with pytest.raises(InputError, match=r"row 1 is 'name,class', .* the label of node 'name'"):
        read_labels(file, ["name", "b"])
    file.write_text("0,class\n1,salt\n", encoding="utf-8")
    assert read_labels(file) == read_labels(file, []) == {"0": "class", "1": "salt"}


def test_a_node_whose_name_has_blanks_is_found_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("node,label\n a,tea\na,salt\n b ,milk\n", encoding="utf-8")
    assert read_labels(tmp_path / "labels.csv", [" a", "a", "b"]) == {" a": "tea", "a": "salt", "b": "milk"}


def test_nodes_that_share_a_name_or_a_label_given_twice_are_refused(blobs: Blobs) -> None:
    with pytest.raises(InputError, match=r"node_names\[0\] and node_names\[2\] are both 'a'"):
        align_labels({"a": "x"}, 3, ["a", "b", "a"])
    with pytest.raises(InputError, match=r"node_names\[0\] and node_names\[1\] are both 'a'"):
        predict(blobs[0], blobs[1], node_names=["a"] * len(blobs[0]))
    with pytest.raises(InputError, match="node 'a' and node 0, which are the same node, with different labels"):
        align_labels({"a": "x", 0: "y"}, 2, ["a", "b"])


def test_an_infinite_label_in_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("node,label\n0,inf\n", encoding="utf-8")
    with pytest.raises(InputError, match="row 2 has the label inf, an infinite number"):
        read_labels(tmp_path / "labels.csv")


@pytest.mark.parametrize("content", [b"node,label\n1,\xa3\n", b'1,"' + b"x" * 200_000 + b'"\n'])
def test_a_labels_file_that_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "labels.csv").write_bytes(content)
    with pytest.raises(InputError, match=r"labels\.csv is not a CSV file in UTF-8"):
        read_labels(tmp_path / "labels.csv")


def test_names_that_are_numbers_are_not_taken_for_node_numbers() -> None:
    names = ["1000", "1001", "1002"]
    assert align_labels({"1002": "a", 1000: "b"}, 3, names).tolist() == ["b", None, "a"]
    with pytest.raises(InputError, match="labels have node '2', which is not a node's name"):
        align_labels({"2": "a"}, 3, names)
    assert align_labels({"2": "a"}, 3, ["x", "y", "z"]).tolist() == [None, None, "a"]


@pytest.mark.parametrize("node", ["²", "--5", "-1", "9" * 5000])
def test_a_node_number_that_is_none(node: str) -> None:
    with pytest.raises(InputError, match="which is not a node number of this graph"):
        align_labels({node: "a"}, 3)


def test_one_column_is_not_both_node_and_label(tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text("account,status\na,ok\n", encoding="utf-8")
    with pytest.raises(InputError, match="`id_column` and `label_column` are the same column 'status'"):
        read_labels(file, ["a"], id_column="status", label_column="status")
