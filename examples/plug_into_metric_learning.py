"""The anchor inside a third-party library: pytorch-metric-learning's NT-Xent.

    pip install pytorch-metric-learning

The library keeps its loss; the anchor replaces one of the two embeddings it compares.
PyGCL 0.1.2, the graph library one would take here, installs from PyPI but cannot be
imported from there: it needs dgl, torch_sparse and torch_scatter without saying so.
"""

import torch
from pytorch_metric_learning.losses import NTXentLoss, SelfSupervisedLoss
from torch_geometric.loader import DataLoader

import sega_anchor as sa
from sega_anchor.augment import NodeDrop
from sega_anchor.backbones import GIN
from sega_anchor.datasets import load
from sega_anchor.evaluate import svm_scores


def main() -> None:
    """Train without labels, then ask an SVM what was learnt."""
    torch.set_num_threads(1)  # graphs this small gain nothing from more
    torch.manual_seed(0)
    dataset = load("synthetic")
    encoder = GIN(dataset.num_features)
    augment = NodeDrop(ratio=0.2)
    criterion = SelfSupervisedLoss(NTXentLoss(temperature=0.2))
    optimizer = torch.optim.Adam(encoder.parameters(), lr=0.001)

    anchor = sa.AnchorView(dataset.num_features, out_channels=96, height=3)  # anchor 1
    dataset = [anchor.transform(graph) for graph in dataset]  # anchor 2
    optimizer.add_param_group({"params": anchor.parameters()})  # anchor 3
    for epoch in range(1, 11):
        losses = []
        for data in DataLoader(dataset, batch_size=64, shuffle=True):
            optimizer.zero_grad()
            z = encoder.encode(augment(data))
            loss = criterion(z, anchor(data))  # anchor 4, was: encoder.encode(data)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch:2d}: loss {sum(losses) / len(losses):.3f}")

    encoder.eval()
    with torch.no_grad():
        embedding = torch.cat([encoder.encode(d) for d in DataLoader(dataset, 64)])
    labels = torch.cat([graph.y for graph in dataset])
    print(f"accuracy {100 * svm_scores(embedding, labels).accuracy:.2f}")


if __name__ == "__main__":
    main()
