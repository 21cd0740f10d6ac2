-- A flight that was scheduled must be counted once by every model that counts flights.
{% set counts = {
    'int_flights': 'count(*)',
    'fct_flights': 'count(*)',
    'int_airport_days': 'sum(scheduled)',
    'fct_hourly_departures': 'sum(scheduled)',
    'mart_weather_delays': 'sum(scheduled)',
} %}

with accounts as (
    {% for model, flights in counts.items() %}
    select
        '{{ model }}' as model_name,
        {{ flights }} as flights
    from {{ ref(model) }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}
)

select *
from accounts
where flights != (select count(*) from {{ ref('int_flights') }})
