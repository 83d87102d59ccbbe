"""A plain PyTorch loop, with one of its two views replaced by the anchor.

The lines marked "anchor" are all that changes; what they replace stands behind "was".
"""

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GIN, MLP, global_add_pool
from torch_geometric.utils import dropout_edge

import sega_anchor as sa
from sega_anchor.datasets import load
from sega_anchor.evaluate import svm_scores


class Encoder(nn.Module):
    """Somebody's graph encoder with a projection head."""

    def __init__(self, in_channels: int) -> None:
        super().__init__()
        self.convolutions = GIN(in_channels, 64, num_layers=3, norm="batch_norm")
        self.head = MLP([64, 64, 64], norm=None)

    def embed(self, data: Data) -> Tensor:
        """Return one vector per graph."""
        nodes = self.convolutions(data.x, data.edge_index)
        return global_add_pool(nodes, data.batch, data.num_graphs)

    def forward(self, data: Data) -> Tensor:
        """Return the projection that the loss compares."""
        return self.head(self.embed(data))


def augment(data: Data) -> Data:
    """Somebody's augmentation."""
    view = data.clone()
    view.edge_index, _ = dropout_edge(data.edge_index, p=0.2)
    return view


def main() -> None:
    """Train without labels, then ask an SVM what was learnt."""
    torch.set_num_threads(1)  # graphs this small gain nothing from more
    torch.manual_seed(0)
    dataset = load("synthetic")
    encoder = Encoder(dataset.num_features)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=0.001)

    anchor = sa.AnchorView(dataset.num_features, out_channels=64, height=3)  # anchor 1
    dataset = [anchor.transform(graph) for graph in dataset]  # anchor 2
    optimizer.add_param_group({"params": anchor.parameters()})  # anchor 3
    loader = DataLoader(dataset, batch_size=64, shuffle=True)
    for epoch in range(1, 11):
        losses = []
        for data in loader:
            optimizer.zero_grad()
            z = encoder(augment(data))
            loss = anchor.loss(z, data)  # anchor 4, was: sa.nt_xent(encoder(data), z)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch:2d}: loss {sum(losses) / len(losses):.3f}")

    encoder.eval()
    with torch.no_grad():
        embedding = torch.cat([encoder.embed(d) for d in DataLoader(dataset, 64)])
    labels = torch.cat([graph.y for graph in dataset])
    print(f"accuracy {100 * svm_scores(embedding, labels).accuracy:.2f}")


if __name__ == "__main__":
    main()
