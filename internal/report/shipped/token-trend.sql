-- Tokens of each model by month (UTC)
-- :since 0001-01-01
-- :until 9999-12-31
WITH months AS (
  SELECT model, substr(time, 1, 7) AS month, count(*) AS records, sum(coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_creation_tokens, 0)) AS prompt_tokens,
    sum(coalesce(output_tokens, 0)) AS output_tokens
  FROM v_usage
  WHERE counted AND time BETWEEN :since AND :until || 'T24'
  GROUP BY 1, 2)
SELECT model, month, records, prompt_tokens, output_tokens, prompt_tokens + output_tokens -
  CASE WHEN lag(month) OVER past = strftime('%Y-%m', month || '-01', '-1 month') THEN lag(prompt_tokens + output_tokens) OVER past
    WHEN lag(month) OVER past IS NOT NULL THEN 0 END AS change -- the first month has nothing to be compared with
FROM months
WINDOW past AS (PARTITION BY model ORDER BY month)
ORDER BY model, month
