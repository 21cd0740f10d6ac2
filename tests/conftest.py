"""dbt's own project fixtures for every test that runs dbt."""

pytest_plugins = ["dbt.tests.fixtures.project"]
