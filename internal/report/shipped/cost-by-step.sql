-- Cost by flow and step
-- :since 0001-01-01
-- :until 9999-12-31
SELECT u.format, coalesce(u.flow, c.flow, r.flow) AS flow, coalesce(u.step, c.step) AS step,
  count(*) AS records, sum(u.input_tokens) AS input_tokens, sum(u.output_tokens) AS output_tokens,
  (sum(u.cost_nanousd) + 500) / 1000 AS cost_microusd, count(*) - count(coalesce(u.reported_cost_nanousd, u.calculated_cost_nanousd)) AS without_cost
FROM v_usage u
LEFT JOIN v_runs r ON r.run_id = u.run_id
LEFT JOIN v_conversations c ON c.conversation_id = u.conversation_id
WHERE u.counted AND coalesce(u.flow, c.flow, r.flow, u.step, c.step) IS NOT NULL AND coalesce(u.time, '0001-01-01') BETWEEN :since AND :until || 'T24'
GROUP BY 1, 2, 3
ORDER BY sum(u.cost_nanousd) DESC, records DESC, 1, 2, 3
