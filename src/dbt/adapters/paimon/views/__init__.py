"""Views over catalogs that cannot store them."""
