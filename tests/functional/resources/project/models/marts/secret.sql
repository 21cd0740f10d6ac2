select customer, {{ in_cents('amount') }} as cents from {{ ref('totals') }}
