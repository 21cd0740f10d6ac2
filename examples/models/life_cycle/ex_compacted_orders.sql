{#- However many runs write, one file is left: write-only keeps Paimon from compacting as it writes, and the policy
    compacts after the commit, once a bucket has two files. -#}
{{ config(
    materialized='incremental',
    primary_key='order_id',
    bucket=1,
    tblproperties={'write-only': true},
    maintenance={'compact': {'small_files': 2}, 'expire_snapshots': {'retain_max': 3}},
) }}

select
    order_id,
    status
from values (1, 'paid'), (2, 'sent'), (3, 'paid') as orders (order_id, status)
