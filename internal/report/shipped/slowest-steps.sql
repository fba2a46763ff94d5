-- The steps that took longest
-- :since 0001-01-01
-- :until 9999-12-31
-- :limit 20
WITH took AS (
  SELECT format, run_id, flow, name AS step, outcome, started, coalesce(duration_us, CASE WHEN ended_us >= started_us THEN ended_us - started_us END) AS us FROM v_steps WHERE counted
  UNION SELECT format, run_id, flow, step, outcome, started, coalesce(duration_us, CASE WHEN ended_us >= started_us THEN ended_us - started_us END) FROM v_receipts WHERE counted)
-- One step of one run is told once, however often it ran and whoever tells of it.
SELECT round(max(us) / 1e6, 3) AS seconds, format, run_id, max(flow) AS flow, step, max(outcome) AS outcome, min(started) AS started
FROM took
WHERE us IS NOT NULL AND coalesce(started, '0001-01-01') BETWEEN :since AND :until || 'T24'
GROUP BY format, run_id, step
ORDER BY max(us) DESC, run_id, step
LIMIT CAST(:limit AS INTEGER)
