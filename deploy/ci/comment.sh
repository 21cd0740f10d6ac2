#!/usr/bin/env bash
# Comment on the pull request: the rows that differ, and the promotion's plan for each table.
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
    echo "A node or data test **failed**, so this environment cannot be promoted. See the job's log."
    echo
  fi
  # If a table cannot be compared, the output says why.
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
