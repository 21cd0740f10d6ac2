"""Paimon catalogs as typed values: `catalogs.yml`, metastores, JDBC databases and the storage of warehouses."""
