-- Tokens of each model by month, and the change from the month before
-- :since 0001-01-01
-- :until 9999-12-31
WITH months AS (
  SELECT model, substr(time, 1, 7) AS month, count(*) AS records, sum(coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_creation_tokens, 0)) AS prompt_tokens,
    sum(coalesce(output_tokens, 0)) AS output_tokens
  FROM v_usage
  WHERE counted AND time BETWEEN :since AND :until || 'T24'
  GROUP BY 1, 2)
SELECT model, month, records, prompt_tokens, output_tokens, prompt_tokens + output_tokens - lag(prompt_tokens + output_tokens) OVER (PARTITION BY model ORDER BY month) AS change
FROM months
ORDER BY model, month
