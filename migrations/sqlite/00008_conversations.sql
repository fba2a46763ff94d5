-- +goose Up
-- +goose StatementBegin

-- What a conversation that counts holds is what counts, as stats and v_runs have it: events that stand in several of its originals, or in
-- earlier versions of them, were added up. One that does not count still says how much it holds.

DROP VIEW v_conversations;

CREATE VIEW v_conversations AS
SELECT c.conversation_id, (SELECT name FROM names WHERE id = r.format) AS format, r.run_id, c.native_id,
  c.verdict = 0 AS counted, (SELECT name FROM verdicts WHERE id = c.verdict) AS verdict,
  (SELECT o.conversation_id FROM conversations o WHERE o.id = c.of) AS of_conversation_id,
  c.title, c.agent, c.engine, c.model, c.flow, c.step, c.mode, c.status, c.version AS producer_version, c.project, c.branch,
  strftime('%Y-%m-%dT%H:%M:%S.', (c.started + 300000000000000000) / 1000000 - 300000000000, 'unixepoch') || printf('%06dZ', (c.started + 300000000000000000) % 1000000) AS started, c.started AS started_us,
  strftime('%Y-%m-%dT%H:%M:%S.', (c.ended + 300000000000000000) / 1000000 - 300000000000, 'unixepoch') || printf('%06dZ', (c.ended + 300000000000000000) % 1000000) AS ended, c.ended AS ended_us,
  c.child,
  (SELECT count(*) FROM transcripts t WHERE t.conversation = c.id) AS versions,
  s.name AS source, f.path, v.number AS version,
  (SELECT coalesce(sum(t.events), 0) FROM transcripts t WHERE t.conversation = c.id AND (t.verdict = 0 OR c.verdict <> 0)) AS events,
  (SELECT coalesce(sum(t.messages), 0) FROM transcripts t WHERE t.conversation = c.id AND (t.verdict = 0 OR c.verdict <> 0)) AS messages,
  (SELECT coalesce(sum(t.calls), 0) FROM transcripts t WHERE t.conversation = c.id AND (t.verdict = 0 OR c.verdict <> 0)) AS tool_calls,
  (SELECT coalesce(sum(t.results), 0) FROM transcripts t WHERE t.conversation = c.id AND (t.verdict = 0 OR c.verdict <> 0)) AS tool_results,
  c.attributes
FROM conversations c
JOIN runs r ON r.id = c.run
LEFT JOIN versions v ON v.id = (SELECT t.version FROM transcripts t JOIN versions w ON w.id = t.version JOIN files g ON g.id = w.file JOIN sources q ON q.id = g.source
  WHERE t.conversation = c.id ORDER BY t.verdict, t.ord, q.name, g.path, w.number LIMIT 1)
LEFT JOIN files f ON f.id = v.file
LEFT JOIN sources s ON s.id = f.source;

-- +goose StatementEnd
-- +goose Down
-- +goose StatementBegin
SELECT 1;
-- +goose StatementEnd
