#!/usr/bin/env bash
# Publish the environment's tables in production, or finish doing so. Reads ENV_NAME, DBT_TARGET_NAME, DBT_FOLDER.
set -euo pipefail
source "$(dirname "$0")/settings.sh"

paimon env promote "$ENV_NAME"
