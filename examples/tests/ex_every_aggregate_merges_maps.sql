-- Maps cannot be compared as a whole, as rows_are does.
select merged
from {{ ref('ex_every_aggregate') }}
where sort_array(map_entries(merged)) <> sort_array(map_entries(map('a', 1, 'b', 2, 'c', 2)))
