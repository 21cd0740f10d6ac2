{{ config(
    materialized='table', primary_key='id', bucket=1, merge_engine='aggregation', sequence_field='message_no',
    fields={
        'summed': {'aggregate_function': 'sum'},
        'multiplied': {'aggregate_function': 'product'},
        'greatest_day': {'aggregate_function': 'max'},
        'least_day': {'aggregate_function': 'min'},
        'last_one': {'aggregate_function': 'last_value'},
        'last_known': {'aggregate_function': 'last_non_null_value'},
        'first_one': {'aggregate_function': 'first_value'},
        'first_known': {'aggregate_function': 'first_non_null_value'},
        'listed': {'aggregate_function': 'listagg', 'list_agg_delimiter': ';'},
        'all_true': {'aggregate_function': 'bool_and'},
        'any_true': {'aggregate_function': 'bool_or'},
        'collected': {'aggregate_function': 'collect'},
        'collected_once': {'aggregate_function': 'collect', 'distinct': true},
        'merged': {'aggregate_function': 'merge_map'},
        'nested': {'aggregate_function': 'nested_update', 'nested_key': 'k'},
        'sketched': {'aggregate_function': 'hll_sketch'},
        'mapped_bits': {'aggregate_function': 'rbm32'},
    }
) }}

-- Every function that Spark can feed. `sketch` is hll_sketch_agg of {1, 2, 3} and {3, 4}, as hexadecimal digits; `bits`
-- are serialized roaring bitmaps of {1, 2} and {2, 3}.
-- A count is the sum of a column of ones. docs/merge-engines.md has what each function does and takes.
select
    id,
    message_no,
    cast(summed as bigint) as summed,
    multiplied,
    day as greatest_day,
    day as least_day,
    early as last_one,
    early as last_known,
    late as first_one,
    late as first_known,
    word as listed,
    flag as all_true,
    flag as any_true,
    numbers as collected,
    numbers as collected_once,
    merged,
    array(named_struct('k', 1, 'x', word)) as nested,
    unhex(sketch) as sketched,
    unhex(bits) as mapped_bits,
    early as by_default
from
    values
    (
        1, 1, 15, 2.0D, date '2024-01-02', 'a', null, 'a', true, array(1, 2), map('a', 1, 'b', 1),
        '0201070c030003082bf2fb06862ff90d75816607', '3a30000001000000000001001000000001000200'
    ),
    (
        1, 2, 20, 3.0D, date '2024-01-01', null, 'b', 'b', false, array(2, 3), map('b', 2, 'c', 2),
        '0201070c030002087581660781bc5d06', '3a30000001000000000001001000000002000300'
    )
        as messages (
            id, message_no, summed, multiplied, day, early, late, word, flag, numbers, merged, sketch, bits
        )
