# shellcheck shell=bash
# What the other scripts share: dbt-paimon with the project and the target of the action's inputs.

# Usage: paimon COMMAND ARGUMENTS…
paimon() {
  dbt-paimon "$@" --project-dir "${DBT_FOLDER:-.}" ${DBT_TARGET_NAME:+--target "$DBT_TARGET_NAME"}
}
