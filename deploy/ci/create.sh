#!/usr/bin/env bash
# Build and test what the pull request changes. Reads ENV_NAME, DBT_STATE, DBT_TARGET_NAME, DBT_FOLDER.
set -euo pipefail
source "$(dirname "$0")/settings.sh"

paimon env create "$ENV_NAME" --state "$DBT_STATE"
