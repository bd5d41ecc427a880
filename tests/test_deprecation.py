import importlib
import pkgutil
import warnings

import pytest

import imgcl
from imgcl.deprecation import DEPRECATIONS, Deprecation, ImgclDeprecationWarning, deprecated, renamed_argument


@pytest.fixture
def own_list(monkeypatch):
    """What a test deprecates is none of the package's."""
    monkeypatch.setattr("imgcl.deprecation.DEPRECATIONS", [])


@pytest.mark.usefixtures("own_list")
def test_the_old_name_works_and_points_at_the_caller():
    @deprecated(instead="sum", since="0.2", removed_in="0.4")
    def total(values):
        """Add up."""
        return sum(values)

    with pytest.warns(ImgclDeprecationWarning, match=r"total is deprecated since imgcl 0.2 .* 0.4: use sum") as seen:
        assert total([1, 2]) == 3
    assert seen[0].filename == __file__
    assert total.__doc__ == "Add up."


@pytest.mark.usefixtures("own_list")
def test_a_class_can_be_deprecated():
    @deprecated(instead="dict", since="0.2", removed_in="0.4")
    class Table(dict):
        pass

    with pytest.warns(ImgclDeprecationWarning, match="Table"):
        assert Table(a=1) == {"a": 1}


@pytest.mark.usefixtures("own_list")
def test_an_argument_has_two_names_for_a_while():
    @renamed_argument("k", "n_clusters", since="0.2", removed_in="0.4")
    def cluster(n_clusters=1):
        return n_clusters

    with pytest.warns(ImgclDeprecationWarning, match=r"k= of .*cluster is deprecated .* use n_clusters="):
        assert cluster(k=3) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cluster() == 1
        assert cluster(2) == 2
        assert cluster(n_clusters=4) == 4
    with pytest.raises(TypeError, match="both k= and its new name n_clusters="):
        cluster(k=3, n_clusters=4)


def test_users_see_the_warning():
    """Python hides a DeprecationWarning of a library from users."""
    assert issubclass(ImgclDeprecationWarning, FutureWarning)
    assert not issubclass(ImgclDeprecationWarning, DeprecationWarning)


@pytest.mark.parametrize(
    ("version", "due"), [("0.3.9", False), ("0.9", False), ("0.10.0", True), ("0.10.1.dev3", True), ("1.0", True)]
)
def test_when_a_name_is_due(version, due):
    assert Deprecation("old", "new", "0.2", "0.10").is_due(version) is due


def test_nothing_that_is_due_is_still_here():
    for module in pkgutil.walk_packages(imgcl.__path__, "imgcl."):
        if module.name not in ("imgcl.__main__", "imgcl.training.distributed.ray", "imgcl.studies.engines.ray"):
            importlib.import_module(module.name)
    assert [str(each) for each in DEPRECATIONS if each.is_due(imgcl.__version__)] == []
