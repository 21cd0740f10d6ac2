select
    tailnum,
    year as built_in,
    type as plane_type,
    manufacturer,
    model,
    engines,
    seats,
    engine as engine_type
from {{ landing_file('planes') }}
