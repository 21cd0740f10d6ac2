{{ config(group='finance', alias='sum_of_secrets') }}
select sum(cents) as cents from {{ ref('secret') }}
