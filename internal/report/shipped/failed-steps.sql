-- Failed steps, and what they cost
-- :since 0001-01-01
-- :until 9999-12-31
-- A cost is known where usage says which step it is of, or that it failed.
WITH failed AS (
  SELECT format, run_id, flow, name AS step, error, started AS time FROM v_steps WHERE counted AND outcome = 'failed'
  UNION ALL SELECT format, run_id, flow, step, error, started FROM v_receipts WHERE counted AND outcome = 'failed'),
spent AS (
  SELECT u.format, u.run_id, coalesce(u.flow, r.flow) AS flow, u.step, u.time, 1 AS records,
    coalesce(u.input_tokens, 0) + coalesce(u.output_tokens, 0) + coalesce(u.cache_read_tokens, 0) + coalesce(u.cache_creation_tokens, 0) AS tokens, u.cost_nanousd
  FROM v_usage u JOIN v_runs r ON r.run_id = u.run_id
  WHERE u.counted AND u.outcome = 'failed')
SELECT format, run_id, max(flow) AS flow, step, max(error) AS error, sum(records) AS records, sum(tokens) AS tokens, (sum(cost_nanousd) + 500) / 1000 AS cost_microusd
FROM (SELECT format, run_id, flow, step, error, time, 0 AS records, 0 AS tokens, NULL AS cost_nanousd FROM failed
  UNION ALL SELECT format, run_id, flow, step, NULL, time, records, tokens, cost_nanousd FROM spent)
WHERE coalesce(time, '0001-01-01') BETWEEN :since AND :until || 'T24'
GROUP BY format, run_id, step
ORDER BY sum(cost_nanousd) DESC, tokens DESC, format, run_id, step
