#!/usr/bin/env bash
# Build and test the changes of the pull request. Reads ENV_NAME, STATE, TARGET_NAME, PROJECT_FOLDER.
set -euo pipefail
source "$(dirname "$0")/settings.sh"

paimon env create "$ENV_NAME" --state "$STATE"
