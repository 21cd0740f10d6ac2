select explode(sequence(date'2026-01-01', date'2026-03-31')) as date_day
