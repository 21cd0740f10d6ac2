"""The addresses of a test's cluster, from a range for tests of network devices (RFC 2544) that no network uses."""

from __future__ import annotations

# The virtual cable between this machine and the node.
MACHINE = "198.18.0.1"
NODE = "198.18.0.2"
CABLE_BITS = 30
PODS = "198.18.128.0/20"
SERVICES = "198.19.0.0/24"
API_PORT = 6443
# The API server's address in pods: the first one of the services.
API_SERVICE = "198.19.0.1"
DOMAIN = "cluster.local"
NODE_NAME = "node"
