"""Paimon catalogs as typed values, their metastores and JDBC databases, and the storage of their warehouses."""
