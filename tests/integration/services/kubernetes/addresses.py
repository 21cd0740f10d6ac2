"""The addresses of a test's cluster, of a range that no network uses (RFC 2544: for tests of network devices)."""

from __future__ import annotations

# A cable between this machine and the node.
MACHINE = "198.18.0.1"
NODE = "198.18.0.2"
CABLE_BITS = 30
PODS = "198.18.128.0/20"
SERVICES = "198.19.0.0/24"
API_PORT = 6443
# Where every pod finds the API server, as the first address of the services.
API_SERVICE = "198.19.0.1"
DOMAIN = "cluster.local"
NODE_NAME = "node"
