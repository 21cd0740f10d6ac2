"""Views over catalogs that have none."""
