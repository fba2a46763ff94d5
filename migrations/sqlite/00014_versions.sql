-- +goose Up
-- +goose StatementBegin

-- A run of which earlier versions were removed says so, if it has lost nothing more.

DROP VIEW v_runs;

CREATE VIEW v_runs AS
SELECT r.run_id, (SELECT name FROM names WHERE id = r.format) AS format, r.native_id, r.anchor, r.counted,
  r."group" AS group_id, r.project, r.branch, r.flow, r.title, r.agent, r.model, r.host, r.version AS producer_version,
  r.status, r.outcome, r.error,
  strftime('%Y-%m-%dT%H:%M:%S.', (r.started + 300000000000000000) / 1000000 - 300000000000, 'unixepoch') || printf('%06dZ', (r.started + 300000000000000000) % 1000000) AS started, r.started AS started_us,
  strftime('%Y-%m-%dT%H:%M:%S.', (r.ended + 300000000000000000) / 1000000 - 300000000000, 'unixepoch') || printf('%06dZ', (r.ended + 300000000000000000) % 1000000) AS ended, r.ended AS ended_us,
  r.stub, r.child,
  (SELECT count(*) FROM conversations c WHERE c.run = r.id AND c.verdict = 0) AS conversations,
  (SELECT coalesce(sum(t.events), 0) FROM run_names n CROSS JOIN transcripts t ON t.run_name = n.id WHERE n.run = r.id AND t.verdict = 0) AS events,
  (SELECT coalesce(sum(t.messages), 0) FROM run_names n CROSS JOIN transcripts t ON t.run_name = n.id WHERE n.run = r.id AND t.verdict = 0) AS messages,
  (SELECT coalesce(sum(t.calls), 0) FROM run_names n CROSS JOIN transcripts t ON t.run_name = n.id WHERE n.run = r.id AND t.verdict = 0) AS tool_calls,
  (SELECT coalesce(sum(t.results), 0) FROM run_names n CROSS JOIN transcripts t ON t.run_name = n.id WHERE n.run = r.id AND t.verdict = 0) AS tool_results,
  (SELECT sum(max(-1099511627776, min(1099511627776, u.input))) FROM run_names n CROSS JOIN usage u ON u.run_name = n.id WHERE n.run = r.id AND u.verdict = 0) AS input_tokens,
  (SELECT sum(max(-1099511627776, min(1099511627776, u.output))) FROM run_names n CROSS JOIN usage u ON u.run_name = n.id WHERE n.run = r.id AND u.verdict = 0) AS output_tokens,
  (SELECT sum(max(-1099511627776, min(1099511627776, u.cache_read))) FROM run_names n CROSS JOIN usage u ON u.run_name = n.id WHERE n.run = r.id AND u.verdict = 0) AS cache_read_tokens,
  (SELECT sum(max(-1099511627776, min(1099511627776, coalesce(u.cache_write + u.cache_write_1h, u.cache_write, u.cache_write_1h)))) FROM run_names n CROSS JOIN usage u ON u.run_name = n.id WHERE n.run = r.id AND u.verdict = 0) AS cache_creation_tokens,
  (SELECT one_row.n / 1000 + (one_row.n % 1000 + 1500) / 1000 - 1 FROM (SELECT max(-4294967296, min(4294967296, sum(u.reported >> 30))) * 1073741824 + sum(u.reported & 1073741823) AS n
    FROM run_names n CROSS JOIN usage u ON u.run_name = n.id WHERE n.run = r.id AND u.verdict = 0) one_row) AS reported_cost_microusd,
  (SELECT one_row.n / 1000 + (one_row.n % 1000 + 1500) / 1000 - 1 FROM (SELECT max(-4294967296, min(4294967296, sum(y.cost >> 30))) * 1073741824 + sum(y.cost & 1073741823) AS n FROM (SELECT coalesce(u.reported, CASE WHEN NOT one_row.some OR NOT EXISTS (SELECT 1 FROM run_names a CROSS JOIN usage k INDEXED BY usage_cost_only ON k.run_name = a.id WHERE a.run = r.id
    AND coalesce(k.native_conversation, a.native_id) = coalesce(u.native_conversation, n.native_id) AND k.verdict = 0 AND k.reported IS NOT NULL AND k.input IS NULL AND k.output IS NULL
    AND k.cache_read IS NULL AND k.cache_write IS NULL AND k.cache_write_1h IS NULL) THEN u.calculated END) AS cost
    FROM (SELECT EXISTS (SELECT 1 FROM run_names a CROSS JOIN usage k INDEXED BY usage_cost_only ON k.run_name = a.id WHERE a.run = r.id AND k.verdict = 0 AND k.reported IS NOT NULL AND k.input IS NULL AND k.output IS NULL
      AND k.cache_read IS NULL AND k.cache_write IS NULL AND k.cache_write_1h IS NULL) AS some) one_row
    CROSS JOIN run_names n CROSS JOIN usage u ON u.run_name = n.id WHERE n.run = r.id AND u.verdict = 0) y) one_row) AS cost_microusd,
  r.attributes, r.pruned,
  (SELECT CASE max(CASE g.tier WHEN 'versions' THEN r.counted
      WHEN 'ledger' THEN 2 * (r.counted AND NOT EXISTS (SELECT 1 FROM run_names a CROSS JOIN run_claims k ON k.run_name = a.id WHERE a.run = r.id AND NOT k.ledger AND NOT k.named))
      ELSE CASE WHEN v.grave IS NULL THEN 3 + (g.tier = 'payloads') END END) WHEN 4 THEN 'payloads' WHEN 3 THEN 'search' WHEN 2 THEN 'ledger' WHEN 1 THEN 'versions' END
    FROM run_names n CROSS JOIN graves g ON g.run_name = n.id CROSS JOIN versions v ON v.id = g.version
    WHERE n.run = r.id AND g.action = 'thin' AND g.tier IN ('ledger', 'payloads', 'search', 'versions')) AS thinned
FROM runs r;

-- +goose StatementEnd
-- +goose Down
-- +goose StatementBegin
SELECT 1;
-- +goose StatementEnd
