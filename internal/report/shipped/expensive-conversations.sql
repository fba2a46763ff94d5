-- The most expensive conversations
-- :since 0001-01-01
-- :until 9999-12-31
-- :limit 20
WITH spent AS (
  SELECT conversation_id, count(*) AS records, sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_creation_tokens, 0)) AS tokens,
    sum(cost_nanousd) AS nano
  FROM v_usage
  WHERE counted AND conversation_id IS NOT NULL AND coalesce(time, '0001-01-01') BETWEEN :since AND :until || 'T24'
  GROUP BY 1
  HAVING nano IS NOT NULL
  ORDER BY 4 DESC, 3 DESC, 1
  LIMIT CAST(:limit AS INTEGER))
SELECT (s.nano + 500) / 1000 AS cost_microusd, s.tokens, s.records, c.conversation_id, c.format, c.agent, c.started, coalesce(c.title, r.title, c.native_id) AS title
FROM spent s
JOIN v_conversations c ON c.conversation_id = s.conversation_id
JOIN v_runs r ON r.run_id = c.run_id
ORDER BY s.nano DESC, s.tokens DESC, s.conversation_id
