#!/usr/bin/env bash
# Drop the environment. Reads ENV_NAME, TARGET_NAME, PROJECT_FOLDER.
set -euo pipefail
source "$(dirname "$0")/settings.sh"

paimon env drop "$ENV_NAME"
