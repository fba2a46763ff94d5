-- How much of the prompts was cached
-- :since 0001-01-01
-- :until 9999-12-31
SELECT format, model, count(*) AS records, sum(coalesce(input_tokens, 0)) AS uncached_tokens, sum(coalesce(cache_read_tokens, 0)) AS cache_read_tokens,
  sum(coalesce(cache_creation_tokens, 0)) AS cache_creation_tokens,
  round(100.0 * sum(coalesce(cache_read_tokens, 0)) / nullif(sum(coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_creation_tokens, 0)), 0), 1) AS hit_percent
FROM v_usage
WHERE counted AND input_tokens IS NOT NULL AND coalesce(time, '0001-01-01') BETWEEN :since AND :until || 'T24'
GROUP BY 1, 2
HAVING sum(coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_creation_tokens, 0)) > 0
ORDER BY uncached_tokens + cache_read_tokens + cache_creation_tokens DESC, format, model
