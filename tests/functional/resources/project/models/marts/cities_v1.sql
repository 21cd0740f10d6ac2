select 1 as id, 'Ulm' as city
