-- Failures and durations of each tool
-- :since 0001-01-01
-- :until 9999-12-31
SELECT tool, count(*) AS calls, count(*) - count(failed) AS unknown, coalesce(sum(failed), 0) AS failed,
  round(100.0 * sum(failed) / count(failed), 1) AS failed_percent,
  CAST(avg(duration_us) / 1000 AS INTEGER) AS mean_ms, max(duration_us) / 1000 AS longest_ms, CAST(avg(input_bytes) AS INTEGER) AS mean_input_bytes
FROM v_tool_calls
WHERE counted AND coalesce(time, '0001-01-01') BETWEEN :since AND :until || 'T24'
GROUP BY 1
ORDER BY failed DESC, calls DESC, tool
