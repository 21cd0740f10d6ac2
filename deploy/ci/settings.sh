# shellcheck shell=bash
# What the other scripts share: dbt-paimon with the project and the target of the action's inputs.

# dbt reads a relative --state from the project's folder, and not from the current one.
STATE=$(realpath -m "${STATE:-.}")

# Usage: paimon COMMAND ARGUMENTS…
paimon() {
  dbt-paimon "$@" --project-dir "${PROJECT_FOLDER:-.}" ${TARGET_NAME:+--target "$TARGET_NAME"}
}
