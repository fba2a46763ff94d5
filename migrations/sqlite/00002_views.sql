-- +goose Up
-- +goose StatementBegin

-- The views are a contract: docs/sql.md tells every column, and they are only ever extended. They call no
-- function of this program, so any SQLite since 3.38 opens them. The first columns are the unique key; nothing
-- in them depends on when, in which order or in which pack a thing was stored.
--
-- A time before 1970 is rounded down: years enough are added before the division and taken away behind it.
--
-- Money is rounded half up, below zero as well: x / 1000 + (x % 1000 + 1500) / 1000 - 1. Sums of money are made of
-- halves (sum(x >> 30) and sum(x & (1 << 30) - 1)), and sums of tokens of what a request can have: sum() of numbers
-- that do not fit is an error, and one hostile original would spoil every report. For the same reason v_usage cuts
-- cost_nanousd, which people sum up, at a million dollars a record.

CREATE INDEX runs_group ON runs ("group") WHERE "group" IS NOT NULL;
CREATE INDEX problems_identity ON problems (identity);
CREATE INDEX versions_sha256 ON versions (sha256);

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
  (SELECT CASE max(g.tier = 'payloads') WHEN 1 THEN 'payloads' WHEN 0 THEN 'search' END FROM run_names n CROSS JOIN graves g ON g.run_name = n.id
    CROSS JOIN versions v ON v.id = g.version WHERE n.run = r.id AND g.action = 'thin' AND g.tier IN ('payloads', 'search') AND v.grave IS NULL) AS thinned
FROM runs r;

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
  (SELECT coalesce(sum(t.events), 0) FROM transcripts t WHERE t.conversation = c.id) AS events,
  (SELECT coalesce(sum(t.messages), 0) FROM transcripts t WHERE t.conversation = c.id) AS messages,
  (SELECT coalesce(sum(t.calls), 0) FROM transcripts t WHERE t.conversation = c.id) AS tool_calls,
  (SELECT coalesce(sum(t.results), 0) FROM transcripts t WHERE t.conversation = c.id) AS tool_results,
  c.attributes
FROM conversations c
JOIN runs r ON r.id = c.run
LEFT JOIN versions v ON v.id = (SELECT t.version FROM transcripts t JOIN versions w ON w.id = t.version JOIN files g ON g.id = w.file JOIN sources q ON q.id = g.source
  WHERE t.conversation = c.id ORDER BY t.verdict, t.ord, q.name, g.path, w.number LIMIT 1)
LEFT JOIN files f ON f.id = v.file
LEFT JOIN sources s ON s.id = f.source;

CREATE VIEW v_steps AS
SELECT r.run_id, x.key AS step_key, s.name AS source, f.path, v.number AS version, (SELECT name FROM names WHERE id = r.format) AS format,
  x.verdict = 0 AS counted, (SELECT name FROM verdicts WHERE id = x.verdict) AS verdict,
  c.conversation_id, x.parent AS parent_key, x.name, x.kind, x.path AS step_path, x.flow, x.agent, x.engine, x.model, x.iteration, x.attempt,
  x.status, x.outcome, x.error,
  strftime('%Y-%m-%dT%H:%M:%S.', (x.started + 300000000000000000) / 1000000 - 300000000000, 'unixepoch') || printf('%06dZ', (x.started + 300000000000000000) % 1000000) AS started, x.started AS started_us,
  strftime('%Y-%m-%dT%H:%M:%S.', (x.ended + 300000000000000000) / 1000000 - 300000000000, 'unixepoch') || printf('%06dZ', (x.ended + 300000000000000000) % 1000000) AS ended, x.ended AS ended_us,
  x.duration AS duration_us, x.child_run AS child_native_id, (SELECT name FROM names WHERE id = x.inner) AS inner, x.line, x.offset, x.length, x.attributes
FROM steps x
JOIN run_names n ON n.id = x.run_name
JOIN runs r ON r.id = n.run
JOIN versions v ON v.id = x.version
JOIN files f ON f.id = v.file
JOIN sources s ON s.id = f.source
LEFT JOIN conversations c ON c.id = (SELECT o.id FROM conversations o WHERE o.run = r.id AND o.native_id = x.native_conversation AND o.verdict <> 6
  ORDER BY o.verdict, o.conversation_id LIMIT 1);

-- What events state beside their columns: the native id as a text, and all together as JSON.
CREATE VIEW stated_events AS
SELECT id, native_id, CASE WHEN part > 0 OR native_id IS NULL AND said = '' THEN attributes
  ELSE '{' || rtrim(said || CASE WHEN native_id <> '' THEN '"id":' || json_quote(native_id) || ',' ELSE '' END
    || coalesce(substr(attributes, 2, length(attributes) - 2), ''), ',') || '}' END AS attributes
FROM (SELECT e.id, e.part, s.said, e.attributes, CASE typeof(e.native) WHEN 'blob' THEN lower(hex(substr(e.native, 1, 4)) || '-' || hex(substr(e.native, 5, 2)) || '-' || hex(substr(e.native, 7, 2)) || '-' || hex(substr(e.native, 9, 2)) || '-' || hex(substr(e.native, 11))) ELSE e.native END AS native_id
  FROM events e CROSS JOIN scenes s ON s.id = e.scene);

CREATE VIEW v_events AS
SELECT c.conversation_id || ':' || (t.seq_base + e.seq) || CASE WHEN e.parts > 1 THEN '.' || (e.part + 1) ELSE '' END AS event_id,
  (SELECT name FROM names WHERE id = r.format) AS format, c.conversation_id, r.run_id, t.seq_base + e.seq AS seq, e.part + 1 AS part, e.parts,
  e.verdict = 0 AND t.verdict = 0 AND e.part = 0 AS counted,
  (SELECT name FROM verdicts WHERE id = CASE WHEN t.verdict = 0 THEN e.verdict ELSE t.verdict END) AS verdict,
  (SELECT name FROM names WHERE id = x.kind) AS kind, (SELECT name FROM names WHERE id = x.role) AS role, (SELECT name FROM names WHERE id = x.type) AS type, (SELECT name FROM names WHERE id = x.tool) AS tool,
  strftime('%Y-%m-%dT%H:%M:%S.', (e.time + 300000000000000000) / 1000000 - 300000000000, 'unixepoch') || printf('%06dZ', (e.time + 300000000000000000) % 1000000) AS time, e.time AS time_us, e.tz AS utc_offset_minutes,
  coalesce(nullif(x.agent, ''), c.agent) AS agent, coalesce(nullif(x.model, ''), c.model) AS model,
  coalesce(nullif(x.flow, ''), c.flow) AS flow, coalesce(nullif(x.step, ''), c.step) AS step,
  e.text_bytes, s.name AS source, f.path, v.number AS version, (SELECT name FROM names WHERE id = e.inner) AS inner, e.line, e.offset, e.length,
  (SELECT attributes FROM stated_events WHERE id = e.id) AS attributes
FROM events e
JOIN scenes x ON x.id = e.scene
JOIN transcripts t ON t.id = e.transcript
JOIN conversations c ON c.id = t.conversation
JOIN runs r ON r.id = c.run
JOIN versions v ON v.id = t.version
JOIN files f ON f.id = v.file
JOIN sources s ON s.id = f.source;

CREATE VIEW v_tool_calls AS
SELECT c.conversation_id || ':' || (t.seq_base + e.seq) || CASE WHEN e.parts > 1 THEN '.' || (e.part + 1) ELSE '' END AS event_id,
  (SELECT name FROM names WHERE id = r.format) AS format, c.conversation_id, r.run_id, k.call_id,
  k.verdict = 0 AND e.verdict = 0 AND t.verdict = 0 AS counted,
  (SELECT name FROM verdicts WHERE id = CASE WHEN t.verdict <> 0 THEN t.verdict WHEN e.verdict <> 0 THEN e.verdict ELSE k.verdict END) AS verdict,
  (SELECT name FROM names WHERE id = k.name) AS tool,
  strftime('%Y-%m-%dT%H:%M:%S.', (e.time + 300000000000000000) / 1000000 - 300000000000, 'unixepoch') || printf('%06dZ', (e.time + 300000000000000000) % 1000000) AS time, e.time AS time_us,
  k.input_bytes, (SELECT a.paths FROM call_paths a WHERE a.id = k.paths) AS paths,
  (SELECT c2.conversation_id || ':' || (t2.seq_base + e2.seq) || CASE WHEN e2.parts > 1 THEN '.' || (e2.part + 1) ELSE '' END
    FROM transcripts t2 JOIN conversations c2 ON c2.id = t2.conversation WHERE t2.id = e2.transcript) AS result_event_id,
  x.failed, x.status, coalesce(x.duration, CASE WHEN e2.time >= e.time THEN e2.time - e.time END) AS duration_us,
  x.output_bytes, x.cut
FROM calls k
JOIN events e ON e.id = k.event
JOIN transcripts t ON t.id = e.transcript
JOIN conversations c ON c.id = t.conversation
JOIN runs r ON r.id = c.run
LEFT JOIN results x ON x.event = coalesce(
  (SELECT y.event FROM results y JOIN events z ON z.id = y.event
    WHERE y.call = k.call AND z.transcript = e.transcript ORDER BY z.verdict, z.seq, z.part LIMIT 1),
  (SELECT y.event FROM results y JOIN events z ON z.id = y.event JOIN transcripts w ON w.id = z.transcript
    WHERE y.call = k.call ORDER BY w.verdict, z.verdict, w.seq_base + z.seq, z.part LIMIT 1))
LEFT JOIN events e2 ON e2.id = x.event;

-- What a usage costs: as reported, else as calculated; nothing more where another record of its conversation reports the cost of
-- the same spending without saying its tokens (a Flow Studio receipt beside the result line of its CLI).
CREATE VIEW v_usage AS
SELECT u.usage_id, s.name AS source, f.path, v.number AS version, (SELECT name FROM names WHERE id = u.inner) AS inner, u.offset, (SELECT name FROM names WHERE id = r.format) AS format, r.run_id, c.conversation_id,
  u.verdict = 0 AS counted, (SELECT name FROM verdicts WHERE id = u.verdict) AS verdict,
  strftime('%Y-%m-%dT%H:%M:%S.', (u.time + 300000000000000000) / 1000000 - 300000000000, 'unixepoch') || printf('%06dZ', (u.time + 300000000000000000) % 1000000) AS time, u.time AS time_us,
  x.model, x.provider, x.tier, x.speed, x.geo, u.request_id,
  u.input AS input_tokens, u.output AS output_tokens, u.cache_read AS cache_read_tokens,
  coalesce(u.cache_write + u.cache_write_1h, u.cache_write, u.cache_write_1h) AS cache_creation_tokens,
  u.cache_write_1h AS cache_creation_1h_tokens, u.reasoning AS reasoning_tokens, u.requests,
  u.reported / 1000 + (u.reported % 1000 + 1500) / 1000 - 1 AS reported_cost_microusd, u.reported AS reported_cost_nanousd, x.reported_by, u.estimated,
  u.calculated / 1000 + (u.calculated % 1000 + 1500) / 1000 - 1 AS calculated_cost_microusd, u.calculated AS calculated_cost_nanousd,
  u.cost / 1000 + (u.cost % 1000 + 1500) / 1000 - 1 AS cost_microusd, u.cost AS cost_nanousd,
  CASE WHEN u.reported IS NOT NULL THEN 'reported' WHEN u.cost IS NOT NULL THEN 'calculated' END AS cost_source,
  x.price_model, x.price_table, x.price_note,
  x.agent, x.engine, x.flow, x.step, x.status, x.outcome, u.receipt AS receipt_key, u.line, u.length, u.attributes, u.ledger AS pruned
FROM (SELECT u.*, n.run, coalesce(u.native_conversation, n.native_id) AS conversation, max(-1000000000000000, min(1000000000000000, coalesce(u.reported, CASE WHEN NOT EXISTS (SELECT 1 FROM run_names a CROSS JOIN usage k INDEXED BY usage_cost_only ON k.run_name = a.id WHERE a.run = n.run
    AND coalesce(k.native_conversation, a.native_id) = coalesce(u.native_conversation, n.native_id) AND k.verdict = 0 AND k.reported IS NOT NULL AND k.input IS NULL AND k.output IS NULL
    AND k.cache_read IS NULL AND k.cache_write IS NULL AND k.cache_write_1h IS NULL) THEN u.calculated END))) AS cost
  FROM usage u JOIN run_names n ON n.id = u.run_name) u
JOIN runs r ON r.id = u.run
JOIN versions v ON v.id = u.version
JOIN files f ON f.id = v.file
JOIN sources s ON s.id = f.source
CROSS JOIN usage_texts x ON x.id = u.texts
LEFT JOIN conversations c ON c.id = (SELECT o.id FROM conversations o WHERE o.run = r.id AND o.native_id = u.conversation AND o.verdict <> 6
  ORDER BY o.verdict, o.conversation_id LIMIT 1);

CREATE VIEW v_receipts AS
SELECT r.run_id, x.key AS receipt_key, s.name AS source, f.path, v.number AS version, (SELECT name FROM names WHERE id = x.inner) AS inner, x.offset, (SELECT name FROM names WHERE id = r.format) AS format,
  x.verdict = 0 AS counted, (SELECT name FROM verdicts WHERE id = x.verdict) AS verdict,
  c.conversation_id, x.kind, x.flow, x.step, x.agent, x.engine, x.provider, x.model, x.mode, x.status, x.outcome, x.error,
  strftime('%Y-%m-%dT%H:%M:%S.', (x.started + 300000000000000000) / 1000000 - 300000000000, 'unixepoch') || printf('%06dZ', (x.started + 300000000000000000) % 1000000) AS started, x.started AS started_us,
  strftime('%Y-%m-%dT%H:%M:%S.', (x.ended + 300000000000000000) / 1000000 - 300000000000, 'unixepoch') || printf('%06dZ', (x.ended + 300000000000000000) % 1000000) AS ended, x.ended AS ended_us,
  x.duration AS duration_us, x.transcript, x.tool_calls, x.stub, x.line, x.length, x.attributes
FROM receipts x
JOIN run_names n ON n.id = x.run_name
JOIN runs r ON r.id = n.run
JOIN versions v ON v.id = x.version
JOIN files f ON f.id = v.file
JOIN sources s ON s.id = f.source
LEFT JOIN conversations c ON c.id = (SELECT o.id FROM conversations o WHERE o.run = r.id AND o.native_id = x.native_conversation AND o.verdict <> 6
  ORDER BY o.verdict, o.conversation_id LIMIT 1);

CREATE VIEW v_links AS
SELECT printf('%016x', l.edge) AS link_id, (SELECT name FROM names WHERE id = l.format) AS format, l.kind,
  l.from_type, l.from_id AS from_native_id, rf.run_id AS from_run_id, nullif(l.from_conversation, '') AS from_native_conversation,
  (SELECT o.conversation_id FROM conversations o WHERE l.from_conversation <> '' AND o.run = rf.id AND o.native_id = l.from_conversation AND o.verdict <> 6
    ORDER BY o.verdict, o.conversation_id LIMIT 1) AS from_conversation_id,
  CASE l.from_type WHEN 'group' THEN EXISTS (SELECT 1 FROM runs g WHERE g."group" = l.from_id AND g.format = l.format)
    WHEN 'actor' THEN 0 ELSE coalesce(rf.counted, 0) END AS from_found,
  l.to_type, l.to_id AS to_native_id, rt.run_id AS to_run_id, nullif(l.to_conversation, '') AS to_native_conversation,
  (SELECT o.conversation_id FROM conversations o WHERE l.to_conversation <> '' AND o.run = rt.id AND o.native_id = l.to_conversation AND o.verdict <> 6
    ORDER BY o.verdict, o.conversation_id LIMIT 1) AS to_conversation_id,
  CASE l.to_type WHEN 'group' THEN EXISTS (SELECT 1 FROM runs g WHERE g."group" = l.to_id AND g.format = l.format)
    WHEN 'actor' THEN 0 ELSE coalesce(rt.counted, 0) END AS to_found,
  l.uncounted = 0 AS counted,
  (SELECT count(DISTINCT o.statement) FROM links o WHERE o.edge = l.edge) AS statements,
  strftime('%Y-%m-%dT%H:%M:%S.', (l.time + 300000000000000000) / 1000000 - 300000000000, 'unixepoch') || printf('%06dZ', (l.time + 300000000000000000) % 1000000) AS time, l.time AS time_us,
  s.name AS source, f.path, v.number AS version, (SELECT name FROM names WHERE id = l.inner) AS inner, l.line, l.offset, l.length, l.attributes
FROM links l
JOIN versions v ON v.id = l.version
JOIN files f ON f.id = v.file
JOIN sources s ON s.id = f.source
LEFT JOIN run_names nf ON nf.format = l.format AND nf.native_id = l.from_id AND nf.scope = l.from_scope AND l.from_type IN ('run', 'conversation')
LEFT JOIN runs rf ON rf.id = nf.run
LEFT JOIN run_names nt ON nt.format = l.format AND nt.native_id = l.to_id AND nt.scope = l.to_scope AND l.to_type IN ('run', 'conversation')
LEFT JOIN runs rt ON rt.id = nt.run
WHERE l.id = (SELECT o.id FROM links o JOIN versions w ON w.id = o.version JOIN files g ON g.id = w.file JOIN sources q ON q.id = g.source
  WHERE o.edge = l.edge ORDER BY o.uncounted, o.kind = 'fork', o.time IS NULL, o.time, q.name, g.path, w.number, o.inner, o.offset, o.id LIMIT 1);

CREATE VIEW v_files AS
SELECT s.name AS source, f.path, v.number AS version, (SELECT name FROM names WHERE id = v.format) AS format, (SELECT name FROM names WHERE id = v.role) AS role,
  v.size, lower(hex(v.sha256)) AS sha256,
  strftime('%Y-%m-%dT%H:%M:%S', (v.mtime - ((v.mtime % 1000000000) + 1000000000) % 1000000000) / 1000000000, 'unixepoch')
    || printf('.%09dZ', ((v.mtime % 1000000000) + 1000000000) % 1000000000) AS mtime, v.mtime AS mtime_ns,
  printf('%04o', v.mode) AS mode,
  NOT EXISTS (SELECT 1 FROM originals w WHERE w.file = v.file AND w.number > v.number) AS newest,
  CASE WHEN v.size = 0 THEN 1 ELSE (SELECT count(*) FROM originals w WHERE w.sha256 = v.sha256) END AS copies,
  nullif(v.root_dir, '') AS root_dir
FROM originals v
JOIN files f ON f.id = v.file
JOIN sources s ON s.id = f.source;

CREATE VIEW v_problems AS
SELECT printf('%016x', p.identity) AS problem_id, (SELECT name FROM names WHERE id = v.format) AS format, p.kind, p.reason, s.name AS source, f.path, v.number AS version,
  (SELECT name FROM names WHERE id = p.inner) AS inner, p.line, p.offset, p.length,
  (SELECT r.run_id FROM run_names n JOIN runs r ON r.id = n.run WHERE n.id = p.run_name) AS run_id
FROM problems p
JOIN versions v ON v.id = p.version
JOIN files f ON f.id = v.file
JOIN sources s ON s.id = f.source
WHERE p.id = (SELECT o.id FROM problems o JOIN versions w ON w.id = o.version JOIN files g ON g.id = w.file JOIN sources q ON q.id = g.source
  WHERE o.identity = p.identity AND NOT EXISTS (SELECT 1 FROM originals y WHERE y.file = w.file AND y.number > w.number)
  ORDER BY q.name, g.path, w.number, o.offset, o.id LIMIT 1)
UNION ALL
SELECT 'scan:' || x.key, NULL, coalesce(x.value ->> '$.kind', 'scan'), coalesce(x.value ->> '$.reason', ''),
  CASE WHEN instr(x.key, '/') > 0 THEN substr(x.key, 1, instr(x.key, '/') - 1) ELSE x.key END,
  CASE WHEN instr(x.key, '/') > 0 THEN substr(x.key, instr(x.key, '/') + 1) ELSE '' END,
  NULL, NULL, NULL, NULL, NULL, NULL
FROM facts x
WHERE x.kind = 'problem' AND x.value IS NOT NULL;

CREATE VIEW v_cost_daily AS
SELECT strftime('%Y-%m-%d', x.day * 86400, 'unixepoch') AS day, (SELECT name FROM names WHERE id = x.format) AS format, x.project, x.flow, x.agent, x.model, x.provider,
  x.usages, x.requests, x.input_tokens, x.output_tokens, x.cache_read_tokens, x.cache_creation_tokens, x.reasoning_tokens,
  x.reported / 1000 + (x.reported % 1000 + 1500) / 1000 - 1 AS reported_cost_microusd, x.calculated / 1000 + (x.calculated % 1000 + 1500) / 1000 - 1 AS calculated_cost_microusd,
  x.cost / 1000 + (x.cost % 1000 + 1500) / 1000 - 1 AS cost_microusd, x.unpriced
FROM (
  SELECT u.day, u.format, u.project, u.flow, u.agent, u.model, u.provider,
    count(*) AS usages, sum(max(-1099511627776, min(1099511627776, u.requests))) AS requests,
    sum(max(-1099511627776, min(1099511627776, u.input))) AS input_tokens, sum(max(-1099511627776, min(1099511627776, u.output))) AS output_tokens, sum(max(-1099511627776, min(1099511627776, u.cache_read))) AS cache_read_tokens,
    sum(max(-1099511627776, min(1099511627776, u.cache_creation))) AS cache_creation_tokens,
    sum(max(-1099511627776, min(1099511627776, u.reasoning))) AS reasoning_tokens,
    max(-4294967296, min(4294967296, sum(u.reported >> 30))) * 1073741824 + sum(u.reported & 1073741823) AS reported,
    max(-4294967296, min(4294967296, sum(u.calculated >> 30))) * 1073741824 + sum(u.calculated & 1073741823) AS calculated,
    max(-4294967296, min(4294967296, sum(u.cost >> 30))) * 1073741824 + sum(u.cost & 1073741823) AS cost,
    count(*) - count(coalesce(u.reported, u.calculated)) AS unpriced
  FROM (SELECT (u.time - ((u.time % 86400000000) + 86400000000) % 86400000000) / 86400000000 AS day, r.format, r.project, t.flow, t.agent, t.model, t.provider,
      u.requests, u.input, u.output, u.cache_read, coalesce(u.cache_write + u.cache_write_1h, u.cache_write, u.cache_write_1h) AS cache_creation,
      u.reasoning, u.reported, u.calculated, coalesce(u.reported, CASE WHEN NOT EXISTS (SELECT 1 FROM run_names a CROSS JOIN usage k INDEXED BY usage_cost_only ON k.run_name = a.id WHERE a.run = r.id
    AND coalesce(k.native_conversation, a.native_id) = coalesce(u.native_conversation, n.native_id) AND k.verdict = 0 AND k.reported IS NOT NULL AND k.input IS NULL AND k.output IS NULL
    AND k.cache_read IS NULL AND k.cache_write IS NULL AND k.cache_write_1h IS NULL) THEN u.calculated END) AS cost
    FROM usage u
    JOIN run_names n ON n.id = u.run_name
    JOIN runs r ON r.id = n.run
    CROSS JOIN usage_texts t ON t.id = u.texts
    WHERE u.verdict = 0) u
  GROUP BY 1, 2, 3, 4, 5, 6, 7) x;

-- +goose StatementEnd
-- +goose Down
-- +goose StatementBegin
SELECT 1;
-- +goose StatementEnd
