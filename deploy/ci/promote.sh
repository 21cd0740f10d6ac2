#!/usr/bin/env bash
# Publish the environment's tables in production, or finish an interrupted promotion. Reads ENV_NAME, TARGET_NAME, PROJECT_FOLDER.
set -euo pipefail
source "$(dirname "$0")/settings.sh"

paimon env promote "$ENV_NAME"
