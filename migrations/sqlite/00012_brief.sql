-- +goose Up
-- +goose StatementBegin

-- Most runs are one original, whose statements were kept twice, as stated and as what follows from them. Those of a run that is
-- brief leave out what its row says (schema.MarshalBrief), and the row of its conversation leaves out title and attributes.
-- The key of a run is its native id or nothing.
ALTER TABLE runs ADD COLUMN brief INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN keyless INTEGER NOT NULL DEFAULT 0;   -- 1: the anchor alone is the identity
UPDATE runs SET keyless = 1 WHERE key = '';
ALTER TABLE runs DROP COLUMN key;
ALTER TABLE runs ADD COLUMN key TEXT AS (CASE keyless WHEN 0 THEN native_id ELSE '' END);

DROP VIEW v_conversations;

CREATE VIEW v_conversations AS
SELECT c.conversation_id, (SELECT name FROM names WHERE id = r.format) AS format, r.run_id, c.native_id,
  c.verdict = 0 AS counted, (SELECT name FROM verdicts WHERE id = c.verdict) AS verdict,
  (SELECT o.conversation_id FROM conversations o WHERE o.id = c.of) AS of_conversation_id,
  CASE r.brief WHEN 0 THEN c.title ELSE r.title END AS title, c.agent, c.engine, c.model, c.flow, c.step, c.mode, c.status, c.version AS producer_version, c.project, c.branch,
  strftime('%Y-%m-%dT%H:%M:%S.', (c.started + 300000000000000000) / 1000000 - 300000000000, 'unixepoch') || printf('%06dZ', (c.started + 300000000000000000) % 1000000) AS started, c.started AS started_us,
  strftime('%Y-%m-%dT%H:%M:%S.', (c.ended + 300000000000000000) / 1000000 - 300000000000, 'unixepoch') || printf('%06dZ', (c.ended + 300000000000000000) % 1000000) AS ended, c.ended AS ended_us,
  c.child,
  (SELECT count(*) FROM transcripts t WHERE t.conversation = c.id) AS versions,
  s.name AS source, f.path, v.number AS version,
  (SELECT coalesce(sum(t.events), 0) FROM transcripts t WHERE t.conversation = c.id AND (t.verdict = 0 OR c.verdict <> 0)) AS events,
  (SELECT coalesce(sum(t.messages), 0) FROM transcripts t WHERE t.conversation = c.id AND (t.verdict = 0 OR c.verdict <> 0)) AS messages,
  (SELECT coalesce(sum(t.calls), 0) FROM transcripts t WHERE t.conversation = c.id AND (t.verdict = 0 OR c.verdict <> 0)) AS tool_calls,
  (SELECT coalesce(sum(t.results), 0) FROM transcripts t WHERE t.conversation = c.id AND (t.verdict = 0 OR c.verdict <> 0)) AS tool_results,
  CASE r.brief WHEN 0 THEN c.attributes ELSE r.attributes END AS attributes
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
