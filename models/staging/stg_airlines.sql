select
    carrier,
    name as carrier_name
from {{ landing_file('airlines') }}
