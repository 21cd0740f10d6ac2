# shellcheck shell=bash
# Sourced by the other scripts: runs dbt-paimon with the project and target of the action's inputs.

# dbt resolves a relative --state against the project's folder, not the working directory.
STATE=$(realpath -m "${STATE:-.}")

# Usage: paimon COMMAND ARGUMENTS…
paimon() {
  dbt-paimon "$@" --project-dir "${PROJECT_FOLDER:-.}" ${TARGET_NAME:+--target "$TARGET_NAME"}
}
