"""Paimon catalogs, and the metastores and stores behind them."""
