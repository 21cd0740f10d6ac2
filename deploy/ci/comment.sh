#!/usr/bin/env bash
# Comment on the pull request: how the rows differ, and what the promotion will do with each table.
# Reads ENV_NAME, STATE, TARGET_NAME, PROJECT_FOLDER, CREATED (success or failure), PR, GH_TOKEN.
set -euo pipefail
source "$(dirname "$0")/settings.sh"

comment=$(mktemp)
trap 'rm -f "$comment"' EXIT
failed=0
{
  echo "## Environment \`$ENV_NAME\`"
  echo
  if [ "${CREATED:-success}" != success ]; then
    echo "A node or a data test **failed**, so this environment cannot be promoted. The job's log says which."
    echo
  fi
  # A table that cannot be compared has its reason in the output.
  paimon env diff "$ENV_NAME" --output markdown || failed=1
  echo
  echo "<details><summary>What the promotion will do</summary>"
  echo
  echo '```'
  paimon plan --select state:modified+ --state "$STATE" --full-refresh || failed=1
  echo '```'
  echo "</details>"
} > "$comment"

gh pr comment "$PR" --edit-last --create-if-none --body-file "$comment"
exit "$failed"
