"""Views for catalogs that cannot store them."""
