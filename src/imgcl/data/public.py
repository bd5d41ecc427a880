"""The public graphs: what each is, which files hold it, and where it comes from.

A raw file in the data directory is used as it is. Otherwise the file is downloaded from the address that
torch_geometric's data set class uses, into that class's own directory layout below the cache directory: a cache made
by torch_geometric is found, and the other way round. (The bytes are read by this package's own reader, which never
unpickles.) Cora, CiteSeer and PubMed come from gnn-benchmark, not from torch_geometric's ``Planetoid``, whose raw
files are pickles, and whose CiteSeer has 15 more nodes. Facebook pages come from SNAP with the features that their
authors published; torch_geometric's ``FacebookPagePage`` has 128 components in their place.

A graph without an address is read from the data directory alone: its public homes have no file that can be read
without running code, or do not have the graph in this form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from imgcl._core.errors import DataNotFoundError, GraphError
from imgcl.data.download import fetch
from imgcl.data.edge_npz import read_npz
from imgcl.data.musae import read_musae
from imgcl.data.places import CACHE_VARIABLE, DATA_VARIABLE, find_cache_dir, find_data_dir, first_file
from imgcl.data.wiki_cs import read_wiki_cs
from imgcl.graph import Graph
from imgcl.graph.checks import no_features

GNN_BENCHMARK = "https://github.com/shchur/gnn-benchmark/raw/master/data/npz"
GRAPH2GAUSS = "https://github.com/abojchevski/graph2gauss/raw/master/data"
WIKI_CS = "https://github.com/pmernyei/wiki-cs-dataset/raw/master/dataset"
HETEROPHILOUS = "https://github.com/yandex-research/heterophilous-graphs/raw/main/data"
GRAPHMINING = "https://graphmining.ai/datasets/ptg"
SNAP = "https://snap.stanford.edu/data"

READERS: dict[str, Callable[..., Graph]] = {".npz": read_npz, ".json": read_wiki_cs, ".zip": read_musae}


@dataclass(frozen=True)
class PublicGraph:
    """One public graph.

    Attributes:
        nodes: number of nodes; this and the next three are for the table of data sets.
        edges: number of undirected edges, as published.
        features: number of features.
        classes: number of classes.
        about: what its nodes, edges and classes are.
        url: where the raw file comes from; ``None``: it is read from the data directory alone.
        cached: the raw file below the cache directory, in torch_geometric's layout where it has the graph.
        binarise: set positive features to 1, as torch_geometric does.
        structure_only: leave out features that the raw file may have.
        other_files: further names under which a raw file is recognised in the data directory; it is read by its ending.
        class_names: of graphs whose file has none.
        namesakes: other graphs that go by the same file name, by their number of nodes.
        fingerprint: checksum of the graph's content (not of the file, which may be compressed anew), where it is known.
    """

    nodes: int
    edges: int
    features: int
    classes: int
    about: str
    url: str | None = None
    cached: str | None = None
    binarise: bool = False
    structure_only: bool = False
    other_files: tuple[str, ...] = ()
    class_names: tuple[str, ...] | None = None
    namesakes: Mapping[int, str] = field(default_factory=dict)
    fingerprint: str | None = None

    @property
    def file(self) -> str:
        """The raw file's name at its origin, or in the data directory."""
        return self.other_files[0] if self.url is None else self.url.rsplit("/", 1)[1]

    def read(self, path: Path, name: str) -> Graph:
        """Read a raw file, of the layout that its ending says."""
        reader = READERS[path.suffix.lower()]
        graph = reader(path, name=name, binarise=True) if self.binarise else reader(path, name=name)
        if self.structure_only:
            graph = replace(graph, x=no_features(graph.indices, graph.n_nodes), feature_names=None)
        if graph.class_names is not None or self.class_names is None:
            return graph
        return replace(graph, class_names=self.class_names)


PUBLIC: dict[str, PublicGraph] = {
    "amazon-computers": PublicGraph(
        *(13752, 245861, 767, 10),
        about="computer goods at Amazon, linked when often bought together; classes are product categories",
        url=f"{GNN_BENCHMARK}/amazon_electronics_computers.npz",
        cached="Amazon/Computers/raw/amazon_electronics_computers.npz",
        binarise=True,
        fingerprint="e89903929c3e905c6b0d5d8272775c8c",
    ),
    "amazon-photo": PublicGraph(
        *(7650, 119081, 745, 8),
        about="camera goods at Amazon, linked when often bought together; classes are product categories",
        url=f"{GNN_BENCHMARK}/amazon_electronics_photo.npz",
        cached="Amazon/Photo/raw/amazon_electronics_photo.npz",
        binarise=True,
        fingerprint="596442bf1f4a4a4c33371723fb930764",
    ),
    "wiki-cs": PublicGraph(
        *(11701, 216123, 300, 10),
        about="Wikipedia's articles on computer science, linked by hyperlinks; classes are branches of the field",
        url=f"{WIKI_CS}/data.json",
        cached="WikiCS/raw/data.json",
        other_files=("wikics.json", "wiki-cs/data.json", "wikics/data.json"),
    ),
    "dblp": PublicGraph(
        *(17716, 52867, 1639, 4),
        about="papers of DBLP, linked by citations; classes are research areas",
        url=f"{GRAPH2GAUSS}/dblp.npz",
        cached="CitationFull/dblp/raw/dblp.npz",
        binarise=True,
        fingerprint="0f719a278ad7b1a4cb6f9c5e8ec5360b",
    ),
    "cora": PublicGraph(
        *(2708, 5278, 1433, 7),
        about="papers on machine learning, linked by citations; classes are topics",
        url=f"{GNN_BENCHMARK}/cora.npz",
        cached="gnn-benchmark/cora.npz",
        binarise=True,
        namesakes={19793: "CoraFull", 2995: "Cora-ML"},
        fingerprint="681b9be0991cfd3cdde71ebf504d84ff",
    ),
    "citeseer": PublicGraph(
        *(3312, 4536, 3703, 6),
        about="papers of CiteSeer, linked by citations; classes are topics",
        url=f"{GNN_BENCHMARK}/citeseer.npz",
        cached="gnn-benchmark/citeseer.npz",
        binarise=True,
        namesakes={4230: "CiteSeer of graph2gauss"},
        fingerprint="8f658ecd3ed63b8a091c2835f6b72175",
    ),
    "pubmed": PublicGraph(
        *(19717, 44324, 500, 3),
        about="papers on diabetes, linked by citations; classes are kinds of diabetes",
        url=f"{GNN_BENCHMARK}/pubmed.npz",
        cached="gnn-benchmark/pubmed.npz",
    ),
    "coauthor-cs": PublicGraph(
        *(18333, 81894, 6805, 15),
        about="authors in computer science, linked by common papers; classes are fields of study",
        url=f"{GNN_BENCHMARK}/ms_academic_cs.npz",
        cached="Coauthor/CS/raw/ms_academic_cs.npz",
        binarise=True,
    ),
    "coauthor-physics": PublicGraph(
        *(34493, 247962, 8415, 5),
        about="authors in physics, linked by common papers; classes are fields of study",
        url=f"{GNN_BENCHMARK}/ms_academic_phy.npz",
        cached="Coauthor/Physics/raw/ms_academic_phy.npz",
        binarise=True,
    ),
    "facebook-pages": PublicGraph(
        *(22470, 170823, 4714, 4),
        about="pages of Facebook, linked by mutual likes; features are words of their descriptions, classes are kinds "
        "of pages",
        url=f"{SNAP}/facebook_large.zip",
        cached="snap/facebook_large.zip",
        other_files=("facebook_pagepage.npz",),
        class_names=("company", "government", "politician", "tvshow"),
    ),
    "tolokers": PublicGraph(
        *(11758, 519000, 10, 2),
        about="crowd workers of Toloka, linked when they worked on the same task; the class is whether one was banned",
        url=f"{HETEROPHILOUS}/tolokers.npz",
        cached="HeterophilousGraphDataset/tolokers/raw/tolokers.npz",
        class_names=("ok", "banned"),
        fingerprint="7081445326d36dd45217cde7e9cf2cfb",
    ),
    "amazon-fraud": PublicGraph(
        *(10224, 175608, 25, 2),
        about="users of Amazon, linked when they reviewed the same product; the class is whether others voted a user's "
        "reviews unhelpful (fraud); the features are said to contain the votes that define the class",
        other_files=("amazon_fraud_upu.npz",),
        class_names=("honest", "fraud"),
        fingerprint="b51c57593f602d47fcfe15815c81125d",
    ),
    "uai2010": PublicGraph(
        *(3067, 28308, 4973, 19),
        about="web pages, linked by hyperlinks; features are words, classes are topics",
        other_files=("uai2010.npz",),
        fingerprint="7c2e0ab06060d66f5c85bb030ea9ec32",
    ),
    "johns-hopkins": PublicGraph(
        *(5178, 186574, 2396, 5),
        about="members of Facebook at Johns Hopkins University in 2005, linked by friendship; classes are their status "
        "(student, alumnus and so on), features the other columns of the profile; this project's task, not the "
        "literature's",
        other_files=("fb100_johnshopkins55_status.npz",),
        fingerprint="33322af4019abdc7e3156e8c11cb02d5",
    ),
    "lastfm-asia": PublicGraph(
        *(7624, 27806, 0, 18),
        about="users of LastFM in Asia, linked by mutual following; classes are countries; used without features",
        url=f"{GRAPHMINING}/lastfm_asia.npz",
        cached="LastFMAsia/raw/lastfm_asia.npz",
        other_files=("lastfm_asia_nofeat.npz",),
        structure_only=True,
    ),
    "wiki-cs-structure": PublicGraph(
        *(11701, 215603, 0, 10),
        about="edges and classes of wiki-cs without its features",
        url=f"{WIKI_CS}/data.json",
        cached="WikiCS/raw/data.json",
        other_files=("wikics_nofeat.npz", "wikics.json", "wiki-cs/data.json", "wikics/data.json"),
        structure_only=True,
    ),
}


def load_public(name: str, *, data_dir: str | Path | None = None, cache_dir: str | Path | None = None) -> Graph:
    """Load one of :data:`PUBLIC` from the data directory, the cache, or the network, in this order.

    Raises:
        DataNotFoundError: when it is in neither place and cannot be downloaded.
    """
    public = PUBLIC[name]
    path = find_public(name, data_dir=data_dir, cache_dir=cache_dir)
    if path is not None:
        return _not_a_namesake(public.read(path, name), public, path)
    if public.url is None or public.cached is None:
        raise DataNotFoundError(
            f"data set {name!r} is not on this machine, and has no address that it can be downloaded from: looked in "
            f"{_looked_in(public, data_dir)}; put {public.file} into a directory and name that directory in `data_dir` "
            f"or {DATA_VARIABLE}"
        )
    path = find_cache_dir(cache_dir) / public.cached
    try:
        fetch(public.url, path, check=lambda file: check_public(public.read(file, name), public, file))
    except DataNotFoundError as error:
        raise DataNotFoundError(
            f"data set {name!r} is not on this machine: looked in {_looked_in(public, data_dir)} and for {path}, and "
            f"{error}; get {public.file} from there, put it into a directory and name that directory in `data_dir` or "
            f"{DATA_VARIABLE} ({CACHE_VARIABLE} names the cache)"
        ) from None
    return public.read(path, name)


def _looked_in(public: PublicGraph, data_dir: str | Path | None) -> str:
    data = find_data_dir(data_dir)
    return f"{data} (file {public.file})" if data else f"no data directory ({DATA_VARIABLE} is not set)"


def find_public(name: str, *, data_dir: str | Path | None = None, cache_dir: str | Path | None = None) -> Path | None:
    """The raw file of a public graph in the data directory or the cache, if there is one."""
    public = PUBLIC[name]
    suffix = Path(public.file).suffix
    stems = dict.fromkeys((name, name.replace("-", "_"), name.replace("-", "")))
    cached = [] if public.cached is None else [public.cached]
    names = (public.file, *(f"{stem}{suffix}" for stem in stems), *public.other_files, *cached)
    return first_file(find_data_dir(data_dir), names) or first_file(find_cache_dir(cache_dir), cached)


def check_public(graph: Graph, public: PublicGraph, path: Path) -> None:
    """Refuse a downloaded file that does not hold the published graph.

    Raises:
        GraphError: when its sizes or its checksum differ.
    """
    _not_a_namesake(graph, public, path)
    found = {"nodes": graph.n_nodes, "features": graph.n_features, "classes": graph.n_classes}
    for what, size in found.items():
        if size != getattr(public, what):
            raise GraphError(f"it has {size:,} {what} instead of {getattr(public, what):,}")
    if public.fingerprint is not None and graph.fingerprint != public.fingerprint:
        raise GraphError(f"its checksum is {graph.fingerprint} instead of {public.fingerprint}")


def _not_a_namesake(graph: Graph, public: PublicGraph, path: Path) -> Graph:
    other = public.namesakes.get(graph.n_nodes)
    if other:
        raise GraphError(
            f"{path} holds {other} ({graph.n_nodes} nodes), but {graph.name!r} here is the graph with {public.nodes} "
            f"nodes from {public.url}: load yours by its path"
        )
    return graph
