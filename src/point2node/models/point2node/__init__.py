"""The paper's network: χ-conv U-Net, dynamic node correlation, adaptive feature aggregation."""
