"""Train a network on blocks of rooms in a plain PyTorch loop, save it, and label a scan with it.

python examples/05_plain_pytorch_loop.py
"""

from __future__ import annotations

from pathlib import Path

import point2node
from point2node.data.generated import list_rooms
from point2node.data.preparation import prepare
import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader


def main() -> None:
    torch.manual_seed(0)
    prepare(list_rooms(6), Path("rooms_store"), workers=1)  # or 'point2node prepare' on your own data
    store = point2node.open_store("rooms_store")
    blocks = point2node.RoomBlocks(store, store.scenes("train"), points=512, frame="block")

    model = point2node.create_model(preset="tiny", num_classes=len(store.classes), in_features=3)
    loader = DataLoader(blocks, batch_size=8, shuffle=True, drop_last=True, collate_fn=point2node.Collate(model.plan))
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(2):
        for batch in loader:
            logits = model(batch.features, batch.pyramid)
            loss = cross_entropy(logits.flatten(0, 1), batch.labels.flatten(), ignore_index=-1)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        print(f"epoch {epoch}: loss {loss.item():.2f}")

    folder = model.save_pretrained("my_network", trained_on=blocks.card)
    labeller = point2node.Labeller.from_pretrained(folder)
    print(labeller(store.load(store.scenes("test")[0])))


if __name__ == "__main__":
    main()
