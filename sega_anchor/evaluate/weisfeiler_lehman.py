"""Weisfeiler-Lehman: colours of nodes, the subtree kernel, equal graphs."""

import numpy as np
import torch
from scipy.sparse import coo_array
from sklearn.decomposition import KernelPCA
from torch import Tensor
from torch_geometric.data import Data

from ..utils.checks import check_at_least
from ..utils.scatter import graph_of_nodes, num_graphs
from .rbf import Floats


def wl_colours(data: Data, iterations: int | None = None) -> list[Tensor]:
    r"""Return the Weisfeiler-Lehman colours of all nodes after each iteration.

    .. math:: c^{t+1}_v = \big(c^t_v, \{\!\{ c^t_u : (u, v) \in E \}\!\}\big)

    numbered from 0, with :math:`c^0` the rows of ``x``, or one colour without ``x``.
    A multiset of colours is known by the sum of random 64-bit codes, always the same
    ones, so that equal colours come with certainty, and different ones differ but for
    a chance of :math:`2^{-64}` each.

    Args:
        data: a graph or batch.
        iterations: how many; default until no colour splits any more.

    Returns:
        ``iterations + 1`` tensors ``(num_nodes,)``.

    Raises:
        ValueError: for less than 0 iterations.

    Source: Shervashidze et al., "Weisfeiler-Lehman graph kernels", JMLR 2011. PyG's
    ``WLConv`` gives the same colours, node by node.

    Example:
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
        >>> path.num_nodes = 3
        >>> [len(colour.unique()) for colour in wl_colours(path)]
        [1, 2, 2]
    """
    if iterations is not None:
        check_at_least("iterations", iterations, 0)
    source, target = data.edge_index.cpu().long()
    colours = [_first(data)]
    while len(colours) - 1 != iterations:
        old = colours[-1]
        count = _count(old)
        own, sent = _codes(count, 2)
        told = own[old].index_add(0, target, sent[old[source]])
        colours.append(_number(told))
        if iterations is None and _count(colours[-1]) == count:
            break
    return colours


def wl_classes(data: Data) -> Tensor:
    """Return a number for each graph, equal where Weisfeiler-Lehman sees no difference.

    Args:
        data: a graph or batch; the rows of ``x`` are labels of nodes.

    Returns:
        Numbers from 0, ``(num_graphs,)``.

    Example:
        >>> from torch_geometric.data import Batch
        >>> a, b = torch.tensor([[0, 1], [1, 0]]), torch.tensor([[1, 0], [0, 1]])
        >>> graphs = [Data(edge_index=e, num_nodes=n) for e, n in [(a, 2), (b, 2)]]
        >>> graphs.append(Data(edge_index=a, num_nodes=3))
        >>> wl_classes(Batch.from_data_list(graphs)).tolist() in ([0, 0, 1], [1, 1, 0])
        True
    """
    colour = wl_colours(data)[-1]
    (codes,) = _codes(_count(colour), 1)
    graph = graph_of_nodes(data).cpu()
    told = codes.new_zeros(num_graphs(data)).index_add(0, graph, codes[colour])
    return _number(told)


def distinct_graphs(classes: Tensor, labels: Tensor) -> Tensor:
    """Return one graph of each class, the first among those of its most frequent label.

    Equal graphs with different labels are no two graphs: nothing that looks at graphs
    can tell them apart, and the majority is the best it could answer. Of labels that
    are equally frequent that of the first graph counts.

    Args:
        classes: which graphs are equal, numbers from 0, ``(num_graphs,)``.
        labels: ``(num_graphs,)``.

    Returns:
        Ascending numbers of graphs, one for each class.

    Example:
        >>> classes = torch.tensor([0, 1, 0, 0, 2, 2])
        >>> distinct_graphs(classes, torch.tensor([1, 0, 0, 0, 1, 0]))
        tensor([1, 2, 4])
    """
    number = _number(labels)
    pair = classes * _count(number) + number
    pairs, index, count = np.unique(
        pair.numpy(), return_inverse=True, return_counts=True
    )
    first = np.full(len(pairs), len(pair))
    np.minimum.at(first, index.ravel(), np.arange(len(pair)))
    # The most frequent label of each class comes first, then the earliest.
    order = np.lexsort((first, -count, classes.numpy()[first]))
    _, best = np.unique(classes.numpy()[first[order]], return_index=True)
    return torch.from_numpy(np.sort(first[order][best]))


def wl_kernel(data: Data, iterations: int = 3) -> Floats:
    r"""Return the normalised Weisfeiler-Lehman subtree kernel of all pairs of graphs.

    .. math::
        K_{ij} = \frac{\langle \phi_i, \phi_j \rangle}{\|\phi_i\| \|\phi_j\|}

    where :math:`\phi_i` counts the colours of graph i after 0, 1, ... iterations. A
    graph without nodes is at 0 from all others.

    Args:
        data: a batch of graphs; the rows of ``x`` are labels of nodes.
        iterations: how many.

    Returns:
        ``(num_graphs, num_graphs)``, double.
    """
    many = num_graphs(data)
    graph = graph_of_nodes(data).cpu().numpy()
    kernel = np.zeros((many, many))
    for colour in wl_colours(data, iterations):
        ends = graph, colour.numpy()
        ones = np.ones(len(graph))
        counts = coo_array((ones, ends), shape=(many, _count(colour))).tocsr()
        kernel += (counts @ counts.T).toarray()
    length = np.sqrt(kernel.diagonal())
    length[length == 0] = 1
    kernel /= length
    kernel /= length[:, None]
    return kernel


def wl_embedding(data: Data, iterations: int = 3) -> Tensor:
    """Return vectors whose inner products are :func:`wl_kernel`, centred.

    So distances are those of the kernel, exactly, and machines that take vectors can be
    asked about it.

    Args:
        data: a batch of graphs; the rows of ``x`` are labels of nodes.
        iterations: of Weisfeiler-Lehman.

    Returns:
        ``(num_graphs, rank)``, double, with mean 0.

    Example:
        >>> from torch_geometric.data import Batch
        >>> edges = torch.tensor([[0, 1], [1, 0]])
        >>> graphs = [Data(edge_index=edges, num_nodes=n) for n in (2, 3, 4)]
        >>> wl_embedding(Batch.from_data_list(graphs)).shape
        torch.Size([3, 2])
    """
    machine = KernelPCA(kernel="precomputed", eigen_solver="dense", copy_X=False)
    embedding = torch.from_numpy(machine.fit_transform(wl_kernel(data, iterations)))
    # Graphs that are all equal span nothing.
    return embedding if embedding.size(1) else torch.zeros(len(embedding), 1).double()


def _first(data: Data) -> Tensor:
    """Return a colour for each different row of ``x``."""
    if data.x is None:
        return torch.zeros(data.num_nodes, dtype=torch.long)
    return _number(data.x.cpu(), dim=0)


def _number(values: Tensor, dim: int | None = None) -> Tensor:
    """Return numbers from 0, equal where values are."""
    numbers: Tensor = values.unique(dim=dim, return_inverse=True)[1]
    return numbers


def _count(colour: Tensor) -> int:
    """Return how many colours there are."""
    return int(colour.max()) + 1 if len(colour) else 0


def _codes(colours: int, kinds: int) -> Tensor:
    """Return random 64-bit codes, ``(kinds, colours)``, always the same."""
    generator = torch.Generator().manual_seed(0)
    ends = torch.iinfo(torch.long)
    return torch.randint(ends.min, ends.max, (kinds, colours), generator=generator)
