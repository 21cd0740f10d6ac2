select
  (select count(*) from {{ ref('customers') }}) as latest,
  (select max(name) from {{ ref('customers', v=2) }}) as second,
  (select max(customer) from {{ ref('test', 'customers', version=1) }}) as first
