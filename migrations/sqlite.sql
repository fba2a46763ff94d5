-- The schema of a new index. Made from the migrations in sqlite/, which say more about it:
-- go test ./internal/index/sqlite/write -run TestSchemaOfNewFiles -args -update

CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);

CREATE TABLE names (             -- strings that repeat: formats, roles, kinds, types, tools, models, agents
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE verdicts (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE packs (
  id      INTEGER PRIMARY KEY,
  name    TEXT NOT NULL UNIQUE,
  size    INTEGER NOT NULL,
  created INTEGER NOT NULL,
  writer  TEXT NOT NULL
) STRICT;

CREATE TABLE members (           -- gzip members: where the raw tar stream of a pack starts to inflate
  pack     INTEGER NOT NULL REFERENCES packs,
  raw      INTEGER NOT NULL,
  raw_size INTEGER NOT NULL,
  offset   INTEGER NOT NULL,
  size     INTEGER NOT NULL,
  PRIMARY KEY (pack, raw)
) STRICT, WITHOUT ROWID;

CREATE TABLE facts (             -- newest per kind and key; a value that was taken back is NULL
  kind  TEXT NOT NULL,
  key   TEXT NOT NULL,
  time  INTEGER NOT NULL,
  pack  TEXT NOT NULL,
  value TEXT,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE sources (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE files (
  id       INTEGER PRIMARY KEY,
  source   INTEGER NOT NULL REFERENCES sources,
  path     TEXT NOT NULL,        -- the exact bytes, UTF-8 or not
  UNIQUE (path, source)
) STRICT;

CREATE TABLE chains (            -- one content and its growth
  id     INTEGER PRIMARY KEY,
  root   BLOB NOT NULL,          -- SHA-256 of the first extent
  size   INTEGER NOT NULL,
  sha256 BLOB NOT NULL           -- of all size bytes
, apart INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE extents (
  chain  INTEGER NOT NULL REFERENCES chains,
  offset INTEGER NOT NULL,
  size   INTEGER NOT NULL,
  pack   INTEGER NOT NULL REFERENCES packs,
  raw    INTEGER NOT NULL,       -- of the first byte, in the pack's raw tar stream
  sha256 BLOB NOT NULL,
  PRIMARY KEY (chain, offset)
) STRICT, WITHOUT ROWID;

CREATE INDEX extents_pack ON extents (pack);

CREATE TABLE versions (
  id       INTEGER PRIMARY KEY,
  file     INTEGER NOT NULL REFERENCES files,
  number   INTEGER NOT NULL,
  chain    INTEGER NOT NULL REFERENCES chains,
  size     INTEGER NOT NULL,     -- a prefix of the chain
  sha256   BLOB NOT NULL,
  mtime    INTEGER NOT NULL,     -- nanoseconds
  mode     INTEGER NOT NULL,
  format   INTEGER REFERENCES names,   -- NULL: under a root, claimed by none
  role     INTEGER REFERENCES names,
  root_dir TEXT NOT NULL,
  parser   INTEGER NOT NULL,     -- version of the parser that made the rows, 0: not parsed, -1: all must be made again
  parsed   INTEGER NOT NULL,     -- events before this offset are indexed
  grave    TEXT, archived INTEGER NOT NULL DEFAULT 0,                 -- key of the tombstone that lies on it, NULL: none. A buried version stays for its usage and links
  UNIQUE (file, number)
) STRICT;

CREATE INDEX versions_grave ON versions (grave) WHERE grave IS NOT NULL;

CREATE VIEW originals AS SELECT * FROM versions WHERE grave IS NULL;

CREATE INDEX versions_chain ON versions (chain);

CREATE INDEX versions_size ON versions (size);

CREATE TABLE runs (
  id        INTEGER PRIMARY KEY,
  run_id    TEXT NOT NULL UNIQUE,      -- public: a hash of format, key and anchor
  format    INTEGER NOT NULL REFERENCES names,
  anchor    TEXT NOT NULL,
  native_id TEXT NOT NULL,
  counted   INTEGER NOT NULL,          -- 0: only named by others
  "group"   TEXT, project TEXT, branch TEXT, flow TEXT, title TEXT, agent TEXT, model TEXT, host TEXT,
  version   TEXT, status TEXT, outcome TEXT, error TEXT,
  started   INTEGER, ended INTEGER,    -- as stated, else first and last event
  stub      INTEGER NOT NULL DEFAULT 0,
  child     INTEGER NOT NULL DEFAULT 0,
  pruned    INTEGER NOT NULL DEFAULT 0,   -- 1: only its ledger is left
  attributes TEXT
, brief INTEGER NOT NULL DEFAULT 0, keyless INTEGER NOT NULL DEFAULT 0, key TEXT AS (CASE keyless WHEN 0 THEN native_id ELSE '' END)) STRICT;

CREATE TABLE run_names (               -- how one root calls a run; several names may mean one run
  id     INTEGER PRIMARY KEY,
  format INTEGER NOT NULL REFERENCES names,
  native_id TEXT NOT NULL,
  scope  TEXT NOT NULL,                -- source and root for ids that are unique only there, else ''
  run    INTEGER REFERENCES runs,
  UNIQUE (format, native_id, scope)
) STRICT;

CREATE INDEX run_names_run ON run_names (run);

CREATE TABLE run_claims (              -- what one version says of a run
  run_name INTEGER NOT NULL REFERENCES run_names,
  version  INTEGER NOT NULL REFERENCES versions,
  rank     INTEGER NOT NULL,
  stated   TEXT NOT NULL,              -- transcript.Run as JSON, in short
  named    INTEGER NOT NULL,           -- 1: it says nothing but that there is such a run
  ledger   INTEGER NOT NULL DEFAULT 0, -- 1: a ledger says so, the version itself was pruned of it
  PRIMARY KEY (run_name, version)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_claims_version ON run_claims (version);

CREATE TABLE conversations (
  id        INTEGER PRIMARY KEY,
  conversation_id TEXT NOT NULL UNIQUE,   -- public
  run       INTEGER NOT NULL REFERENCES runs,
  native_id TEXT NOT NULL,
  verdict   INTEGER NOT NULL,             -- 0 counted, 1 duplicate, 5 earlier version, 6 nobody says anything in it
  of        INTEGER,                      -- the conversation that counts instead
  title TEXT, agent TEXT, engine TEXT, model TEXT, flow TEXT, step TEXT, mode TEXT, status TEXT, version TEXT,
  project TEXT, branch TEXT,
  started INTEGER, ended INTEGER,
  child   INTEGER NOT NULL DEFAULT 0,
  attributes TEXT
) STRICT;

CREATE INDEX conversations_run ON conversations (run);

CREATE TABLE transcripts (             -- what one version holds of one conversation; owns its events
  id           INTEGER PRIMARY KEY,
  version      INTEGER NOT NULL REFERENCES versions,
  run_name     INTEGER NOT NULL REFERENCES run_names,
  native_id    TEXT NOT NULL,          -- of the conversation, as stated
  conversation INTEGER REFERENCES conversations,
  verdict      INTEGER NOT NULL,       -- of all its events
  judged       INTEGER NOT NULL DEFAULT 0,   -- verdict that a resolver gave the whole original
  copied_until INTEGER NOT NULL DEFAULT 0,   -- events before this offset are copied history, says a resolver
  indexed      INTEGER NOT NULL,       -- 0: its rows are not here; copies with the bytes of the one that counts have none
  shared       INTEGER NOT NULL,
  aside        INTEGER NOT NULL,       -- 1: made for uncounted rows of the run
  ord          TEXT NOT NULL,
  rank         INTEGER NOT NULL,
  seq_base     INTEGER NOT NULL DEFAULT 0,   -- added to the seq of its events
  stated       TEXT NOT NULL,          -- transcript.Conversation as JSON, in short
  events       INTEGER NOT NULL DEFAULT 0,   -- counted ones, as all below
  messages     INTEGER NOT NULL DEFAULT 0,
  calls        INTEGER NOT NULL DEFAULT 0,
  results      INTEGER NOT NULL DEFAULT 0,
  rows         INTEGER NOT NULL DEFAULT 0,   -- all index rows
  last_seq     INTEGER NOT NULL DEFAULT 0,
  first_time   INTEGER, last_time INTEGER,
  first_row    INTEGER, last_row INTEGER,    -- all rows lie between these ids, both included; NULL: none was written
  UNIQUE (version, run_name, native_id, aside)
) STRICT;

CREATE INDEX transcripts_name ON transcripts (run_name, native_id);

CREATE INDEX transcripts_conversation ON transcripts (conversation);

CREATE TABLE scenes (                  -- what many events say alike: what they are, and whom and what they belong to; '' for nothing
  id    INTEGER PRIMARY KEY,
  kind  INTEGER NOT NULL, role INTEGER NOT NULL, type INTEGER NOT NULL, tool INTEGER NOT NULL,   -- names, 0 for none
  agent TEXT NOT NULL, model TEXT NOT NULL, flow TEXT NOT NULL, step TEXT NOT NULL,
  said  TEXT AS (CASE agent WHEN '' THEN '' ELSE '"agent":' || json_quote(agent) || ',' END || CASE flow WHEN '' THEN '' ELSE '"flow":' || json_quote(flow) || ',' END
    || CASE model WHEN '' THEN '' ELSE '"model":' || json_quote(model) || ',' END || CASE step WHEN '' THEN '' ELSE '"step":' || json_quote(step) || ',' END),
  UNIQUE (kind, role, type, tool, agent, model, flow, step)
) STRICT;

CREATE TABLE events (                  -- one row per part of an event
  id         INTEGER PRIMARY KEY,      -- hour since 2020 << 10 | slot: newest first and date ranges are id ranges
  transcript INTEGER NOT NULL,
  seq        INTEGER NOT NULL,         -- in the transcript; the public one adds seq_base
  shape      INTEGER NOT NULL DEFAULT 0,   -- part, parts - 1 (24 bits) and global - 1 (2 bits)
  verdict    INTEGER NOT NULL DEFAULT 0,   -- of this event; the transcript's applies too
  moment INTEGER NOT NULL,             -- milliseconds behind the beginning of the id's hour, from 2^61 on: microseconds, less 2^62
  tz INTEGER,                          -- minutes east, NULL: no time is stated, and moment is that of the nearest that is
  inner INTEGER,                       -- name of the layer that offset and length mean
  offset INTEGER NOT NULL, length INTEGER NOT NULL,      -- the bytes that Format.Text takes
  ahead INTEGER NOT NULL DEFAULT 0,    -- of seq, the number of the line
  text_bytes INTEGER NOT NULL,         -- of the decoded text
  eid INTEGER,                         -- short hash of the native event id, where there is one: native tells whether two are one
  scene INTEGER NOT NULL REFERENCES scenes,
  native ANY,                          -- id, with the first part, or all that have an eid: the bytes of a UUID, else a text
  attributes TEXT,                     -- native seq and what only this format states, with the first part
  part   INTEGER AS (shape >> 26),     -- from 0
  parts  INTEGER AS ((shape >> 2 & 16777215) + 1),   -- how many the event has
  global INTEGER AS ((shape + 1) & 3), -- of the native id: 0 unique in the conversation, 2 in the format, 1 and first written here
  line   INTEGER AS (seq + ahead),
  at     INTEGER AS (((id >> 10) + 438288) * 3600000000 + CASE WHEN moment >= 2305843009213693952 THEN moment - 4611686018427387904 ELSE moment * 1000 END),
  time   INTEGER AS (CASE WHEN tz IS NOT NULL THEN at END),
  near   INTEGER AS (CASE WHEN tz IS NULL THEN at END)   -- the time that stands in where none is stated
) STRICT;

CREATE UNIQUE INDEX events_place ON events (transcript, seq, part);

CREATE TABLE spilled (                 -- hours under which rows of earlier ones are filed, since those were full
  hour  INTEGER PRIMARY KEY,           -- since 2020
  first INTEGER NOT NULL,              -- no row of the hour is earlier
  last  INTEGER NOT NULL               -- or later
) STRICT;

CREATE VIRTUAL TABLE fts USING fts5 (
  t, content='', contentless_delete=1,
  tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_{|}~'"
);

CREATE TABLE terms (                   -- the words of all rows, for looking inside of words
  id    INTEGER PRIMARY KEY,           -- run << 20 | block: the words of a run are in order, those of several overlap
  words BLOB NOT NULL                  -- packed
) STRICT;

CREATE TABLE call_paths (
  id    INTEGER PRIMARY KEY,           -- hash of the paths
  paths TEXT NOT NULL                  -- JSON array
) STRICT;

CREATE TABLE calls (                   -- tool calls; event is the row of the part
  event      INTEGER PRIMARY KEY,
  transcript INTEGER NOT NULL,
  call       INTEGER NOT NULL,         -- number of run_name (16 bits) and hash of conversation and call id
  call_id    TEXT NOT NULL,
  key        INTEGER,                  -- hash of run and Call.Key
  rank       INTEGER NOT NULL DEFAULT 0,
  verdict    INTEGER NOT NULL DEFAULT 0,
  name       INTEGER NOT NULL,
  input_bytes INTEGER NOT NULL,
  paths      INTEGER                   -- call_paths: what a call touches is touched by several
) STRICT;

CREATE INDEX calls_call ON calls (call);

CREATE INDEX calls_key ON calls (key) WHERE key IS NOT NULL;

CREATE INDEX calls_judged ON calls (transcript) WHERE key IS NOT NULL;

CREATE TABLE results (
  event      INTEGER PRIMARY KEY,
  transcript INTEGER NOT NULL,
  call       INTEGER NOT NULL,
  name       INTEGER,
  failed     INTEGER,
  status     TEXT,
  duration   INTEGER,
  output_bytes INTEGER NOT NULL,
  cut        INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX results_call ON results (call);

CREATE TABLE usage_texts (             -- what many records of usage say alike; a row for each combination
  id   INTEGER PRIMARY KEY,
  hash INTEGER NOT NULL UNIQUE,        -- of all others
  model TEXT, provider TEXT, tier TEXT, speed TEXT, geo TEXT,
  reported_by TEXT,                    -- the field that says what it cost
  price_model TEXT, price_table TEXT, price_note TEXT,   -- of what is calculated
  agent TEXT, engine TEXT, flow TEXT, step TEXT, status TEXT, outcome TEXT
) STRICT;

CREATE TABLE usage (
  id         INTEGER PRIMARY KEY,
  usage_id   TEXT NOT NULL,            -- public, a hash of the identity of the request
  alias      INTEGER,                  -- the number of a usage_id: a row that counts makes those that have it duplicates
  version    INTEGER NOT NULL REFERENCES versions,
  run_name   INTEGER NOT NULL REFERENCES run_names,
  native_conversation TEXT,            -- NULL: it is called as the run is
  texts      INTEGER NOT NULL REFERENCES usage_texts,
  stated_verdict INTEGER NOT NULL DEFAULT 0,
  verdict    INTEGER NOT NULL DEFAULT 0,
  of         INTEGER,                  -- the usage that counts instead
  rank       INTEGER NOT NULL,
  time INTEGER, tz INTEGER,
  request_id TEXT,
  input INTEGER, output INTEGER, cache_read INTEGER, cache_write INTEGER, cache_write_1h INTEGER,
  reasoning INTEGER, requests INTEGER,
  reported INTEGER,                    -- nano-USD
  estimated  INTEGER NOT NULL DEFAULT 0,
  calculated INTEGER,                  -- by the price table of the day
  receipt    TEXT,
  stated     TEXT,                     -- transcript.Usage as JSON, for formats that resolve usage
  ledger     INTEGER NOT NULL DEFAULT 0,   -- 1: it outlived what stated it
  line INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL, inner INTEGER,
  attributes TEXT
) STRICT;

CREATE INDEX usage_alias ON usage (alias >> 36) WHERE alias IS NOT NULL;

CREATE INDEX usage_version ON usage (version, offset);

CREATE TABLE receipts (
  id       INTEGER PRIMARY KEY,
  version  INTEGER NOT NULL REFERENCES versions,
  run_name INTEGER NOT NULL REFERENCES run_names,
  key      TEXT NOT NULL,
  verdict  INTEGER NOT NULL,
  native_conversation TEXT NOT NULL,
  kind TEXT, flow TEXT, step TEXT, agent TEXT, engine TEXT, provider TEXT, model TEXT, mode TEXT,
  status TEXT, outcome TEXT, error TEXT,
  started INTEGER, ended INTEGER, duration INTEGER,
  transcript TEXT, tool_calls INTEGER, stub INTEGER NOT NULL,
  stated TEXT,
  line INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL, inner INTEGER,
  attributes TEXT
) STRICT;

CREATE INDEX receipts_run ON receipts (run_name, key);

CREATE INDEX receipts_version ON receipts (version);

CREATE TABLE steps (
  id       INTEGER PRIMARY KEY,
  version  INTEGER NOT NULL REFERENCES versions,
  run_name INTEGER NOT NULL REFERENCES run_names,
  key      TEXT NOT NULL,
  verdict  INTEGER NOT NULL,
  rank     INTEGER NOT NULL,
  native_conversation TEXT NOT NULL,
  parent TEXT, name TEXT, kind TEXT, path TEXT, flow TEXT, agent TEXT, engine TEXT, model TEXT,
  iteration INTEGER, attempt INTEGER, status TEXT, outcome TEXT, error TEXT,
  started INTEGER, ended INTEGER, duration INTEGER, child_run TEXT,
  stated TEXT,
  line INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL, inner INTEGER,
  attributes TEXT,
  UNIQUE (version, run_name, key)
) STRICT;

CREATE INDEX steps_run ON steps (run_name, key);

CREATE TABLE links (
  id       INTEGER PRIMARY KEY,
  version  INTEGER NOT NULL REFERENCES versions,
  edge     INTEGER NOT NULL,           -- hash of kind and both ends: one edge, however often stated
  kind     TEXT NOT NULL,
  from_type TEXT NOT NULL, from_scope TEXT NOT NULL, from_id TEXT NOT NULL, from_conversation TEXT NOT NULL,
  to_type   TEXT NOT NULL, to_scope   TEXT NOT NULL, to_id   TEXT NOT NULL, to_conversation   TEXT NOT NULL,
  format   INTEGER NOT NULL REFERENCES names,
  statement INTEGER NOT NULL,          -- hash of the statement, where it has an id of its own
  uncounted INTEGER NOT NULL,
  event    INTEGER,                    -- eid of the event that states it
  event_native ANY,                    -- its native id, as events have it
  derived  INTEGER NOT NULL DEFAULT 0, -- 1: follows from copied events
  time INTEGER, tz INTEGER,
  line INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL, inner INTEGER,
  attributes TEXT
) STRICT;

CREATE INDEX links_event ON links (event) WHERE event IS NOT NULL;

CREATE INDEX links_edge ON links (edge);

CREATE INDEX links_version ON links (version, offset);

CREATE INDEX links_from ON links (from_id);

CREATE INDEX links_to ON links (to_id);

CREATE TABLE hints (
  run_name INTEGER NOT NULL REFERENCES run_names,
  key      TEXT NOT NULL,
  value    TEXT NOT NULL,
  version  INTEGER NOT NULL REFERENCES versions,
  PRIMARY KEY (run_name, key, value, version)
) STRICT, WITHOUT ROWID;

CREATE INDEX hints_version ON hints (version);

CREATE TABLE problems (
  id       INTEGER PRIMARY KEY,
  version  INTEGER NOT NULL REFERENCES versions,
  run_name INTEGER REFERENCES run_names,
  identity INTEGER NOT NULL,           -- one problem in copies of one content is one
  sum      INTEGER NOT NULL,           -- of the bytes that could not be read, 0 where they are not enough to know it by
  kind     TEXT NOT NULL,
  reason   TEXT NOT NULL,
  line INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL, inner INTEGER
) STRICT;

CREATE INDEX problems_version ON problems (version, offset);

CREATE TABLE local_scan (              -- metadata of files as last seen: equal means unchanged
  source TEXT NOT NULL,
  path   INTEGER NOT NULL,             -- hash
  size   INTEGER NOT NULL,
  mtime  INTEGER NOT NULL,             -- nanoseconds; -1: do not trust, read again
  inode  INTEGER NOT NULL,
  ignored INTEGER NOT NULL,            -- 1: belongs to nothing known, not archived
  PRIMARY KEY (source, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE local_state (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_group ON runs ("group") WHERE "group" IS NOT NULL;

CREATE INDEX problems_identity ON problems (identity);

CREATE INDEX versions_sha256 ON versions (sha256);

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

CREATE TABLE usage_touched (run_name INTEGER PRIMARY KEY) STRICT;

CREATE TABLE usage_series (
  id       INTEGER PRIMARY KEY,
  model    TEXT NOT NULL,            -- '' where none is stated
  format   INTEGER NOT NULL REFERENCES names,
  reason   TEXT NOT NULL,            -- why there is no calculated price, '' where there is one
  has_reported INTEGER NOT NULL,     -- 1: a cost is reported
  UNIQUE (model, format, reason, has_reported)
) STRICT;

CREATE TABLE usage_threads (
  run_name INTEGER NOT NULL REFERENCES run_names,
  native_conversation TEXT NOT NULL,
  n        INTEGER NOT NULL,         -- makes the key unique, and means nothing
  version  INTEGER NOT NULL,
  texts    INTEGER NOT NULL REFERENCES usage_texts,
  series   INTEGER NOT NULL REFERENCES usage_series,
  day      INTEGER NOT NULL,         -- as in usage_days, all below
  hour     INTEGER NOT NULL,
  rows     INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL, reasoning INTEGER NOT NULL,
  reported INTEGER NOT NULL, calculated INTEGER NOT NULL,
  PRIMARY KEY (run_name, native_conversation, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_days (            -- the sums of usage_threads
  series INTEGER NOT NULL REFERENCES usage_series,
  day    INTEGER NOT NULL,           -- since 1970, UTC; -1000000000 for usage without a time
  hour   INTEGER NOT NULL,           -- 0 to 23, UTC
  rows   INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL, reasoning INTEGER NOT NULL,
  reported INTEGER NOT NULL, calculated INTEGER NOT NULL,      -- nano-USD
  PRIMARY KEY (series, day, hour)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_days_empty ON usage_days (series) WHERE rows = 0;

CREATE INDEX usage_cost_only ON usage (run_name, native_conversation) WHERE verdict = 0 AND reported IS NOT NULL AND input IS NULL
  AND output IS NULL AND cache_read IS NULL AND cache_write IS NULL AND cache_write_1h IS NULL;

CREATE TRIGGER usage_removed AFTER DELETE ON usage WHEN OLD.verdict = 0
BEGIN
  INSERT INTO usage_touched SELECT OLD.run_name WHERE NOT EXISTS (SELECT 1 FROM usage_touched WHERE run_name = OLD.run_name);
END;

CREATE TRIGGER usage_changed AFTER UPDATE OF verdict, time, texts, run_name, native_conversation, version, requests, input, output, cache_read, cache_write,
  cache_write_1h, reasoning, reported, calculated ON usage WHEN OLD.verdict = 0 OR NEW.verdict = 0
BEGIN
  INSERT INTO usage_touched SELECT OLD.run_name WHERE NOT EXISTS (SELECT 1 FROM usage_touched WHERE run_name = OLD.run_name);
  INSERT INTO usage_touched SELECT NEW.run_name WHERE NOT EXISTS (SELECT 1 FROM usage_touched WHERE run_name = NEW.run_name);
END;

CREATE INDEX conversations_project ON conversations (project COLLATE NOCASE) WHERE project IS NOT NULL;

CREATE INDEX runs_project ON runs (project COLLATE NOCASE) WHERE project IS NOT NULL;

CREATE TABLE transcript_sums (
  verdict INTEGER PRIMARY KEY,       -- of the transcripts
  events  INTEGER NOT NULL,          -- that count
  rows    INTEGER NOT NULL           -- all rows that are here
) STRICT;

CREATE TRIGGER transcript_removed AFTER DELETE ON transcripts
BEGIN
  UPDATE transcript_sums SET events = events - OLD.events, rows = rows - CASE OLD.indexed WHEN 1 THEN OLD.rows ELSE 0 END WHERE verdict = OLD.verdict;
END;

CREATE TRIGGER transcript_changed AFTER UPDATE OF verdict, events, rows, indexed ON transcripts
  WHEN (OLD.verdict, OLD.events, OLD.rows, OLD.indexed) IS NOT (NEW.verdict, NEW.events, NEW.rows, NEW.indexed)
BEGIN
  UPDATE transcript_sums SET events = events - OLD.events, rows = rows - CASE OLD.indexed WHEN 1 THEN OLD.rows ELSE 0 END WHERE verdict = OLD.verdict;
  INSERT INTO transcript_sums (verdict, events, rows) VALUES (NEW.verdict, NEW.events, CASE NEW.indexed WHEN 1 THEN NEW.rows ELSE 0 END)
    ON CONFLICT (verdict) DO UPDATE SET events = events + excluded.events, rows = rows + excluded.rows;
END;

CREATE TABLE graves (              -- runs that were pruned or thinned in a version
  version  INTEGER NOT NULL REFERENCES versions,
  run_name INTEGER NOT NULL REFERENCES run_names,
  fact     TEXT NOT NULL,          -- key of the fact that says so
  until    INTEGER NOT NULL,       -- what stands at or behind this offset is not concerned; 0: all is
  action   TEXT NOT NULL,          -- prune, thin
  tier     TEXT NOT NULL,          -- of thin
  over     INTEGER NOT NULL,
  plan     TEXT NOT NULL,
  rule     TEXT NOT NULL,
  reason   TEXT NOT NULL,
  time     INTEGER NOT NULL,
  PRIMARY KEY (version, run_name)
) STRICT, WITHOUT ROWID;

CREATE INDEX graves_run ON graves (run_name);

CREATE INDEX graves_fact ON graves (fact);

CREATE INDEX versions_parser ON versions (format, parser) WHERE format IS NOT NULL AND grave IS NULL;

CREATE INDEX transcripts_wanted ON transcripts (version) WHERE indexed = 2;

CREATE TABLE bounds (
  version INTEGER PRIMARY KEY,
  astray  INTEGER NOT NULL DEFAULT 0,    -- 1: it may have calls or results without the other half in their transcript: duration says nothing of those
  cost_most INTEGER, cost_least INTEGER, -- nano-USD
  input_most INTEGER, input_least INTEGER, output_most INTEGER, output_least INTEGER, tokens_most INTEGER, tokens_least INTEGER,
  duration_most INTEGER, duration_least INTEGER   -- microseconds, of calls
) STRICT;

CREATE TRIGGER usage_repriced AFTER UPDATE OF calculated ON usage WHEN NEW.calculated IS NOT OLD.calculated AND NEW.calculated IS NOT NULL
BEGIN
  UPDATE bounds SET cost_most = max(coalesce(cost_most, NEW.calculated), NEW.calculated), cost_least = min(coalesce(cost_least, cost_most, NEW.calculated), NEW.calculated)
    WHERE version = NEW.version;
END;

CREATE TABLE prompts (
  event INTEGER PRIMARY KEY,
  text  INTEGER NOT NULL -- hash
) STRICT;

CREATE INDEX events_eid ON events (eid, verdict) WHERE eid IS NOT NULL;

CREATE INDEX usage_public ON usage (usage_id, verdict);

CREATE INDEX usage_run ON usage (run_name, verdict);

CREATE VIEW v_pruned AS
SELECT r.run_id, n.native_id, s.name AS source, f.path, v.number AS version, (SELECT name FROM names WHERE id = r.format) AS format,
  g.action, nullif(g.tier, '') AS tier, CASE g.tier WHEN 'payloads' THEN g.over END AS over_bytes, nullif(g.rule, '') AS rule, g.reason, g.plan,
  strftime('%Y-%m-%dT%H:%M:%S.', (g.time + 300000000000000000) / 1000000 - 300000000000, 'unixepoch') || printf('%06dZ', (g.time + 300000000000000000) % 1000000) AS time, g.time AS time_us,
  v.grave IS NOT NULL AS removed, v.size, lower(hex(v.sha256)) AS sha256
FROM graves g
JOIN run_names n ON n.id = g.run_name
JOIN runs r ON r.id = n.run
JOIN versions v ON v.id = g.version
JOIN files f ON f.id = v.file
JOIN sources s ON s.id = f.source
WHERE g.tier <> 'named';

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

INSERT INTO goose_db_version ("version_id", "is_applied") VALUES (0, 1);
INSERT INTO goose_db_version ("version_id", "is_applied") VALUES (1, 1);
INSERT INTO goose_db_version ("version_id", "is_applied") VALUES (2, 1);
INSERT INTO goose_db_version ("version_id", "is_applied") VALUES (3, 1);
INSERT INTO goose_db_version ("version_id", "is_applied") VALUES (4, 1);
INSERT INTO goose_db_version ("version_id", "is_applied") VALUES (5, 1);
INSERT INTO goose_db_version ("version_id", "is_applied") VALUES (6, 1);
INSERT INTO goose_db_version ("version_id", "is_applied") VALUES (7, 1);
INSERT INTO goose_db_version ("version_id", "is_applied") VALUES (8, 1);
INSERT INTO goose_db_version ("version_id", "is_applied") VALUES (9, 1);
INSERT INTO goose_db_version ("version_id", "is_applied") VALUES (10, 1);
INSERT INTO goose_db_version ("version_id", "is_applied") VALUES (11, 1);
INSERT INTO goose_db_version ("version_id", "is_applied") VALUES (12, 1);
INSERT INTO goose_db_version ("version_id", "is_applied") VALUES (13, 1);
INSERT INTO goose_db_version ("version_id", "is_applied") VALUES (14, 1);
INSERT INTO goose_db_version ("version_id", "is_applied") VALUES (15, 1);
INSERT INTO verdicts ("id", "name") VALUES (0, 'counted');
INSERT INTO verdicts ("id", "name") VALUES (1, 'duplicate');
INSERT INTO verdicts ("id", "name") VALUES (2, 'copied history');
INSERT INTO verdicts ("id", "name") VALUES (3, 'derived total');
INSERT INTO verdicts ("id", "name") VALUES (4, 'outside receipt');
INSERT INTO verdicts ("id", "name") VALUES (5, 'earlier version');
INSERT INTO verdicts ("id", "name") VALUES (6, 'uncounted');
INSERT INTO fts (fts, rank) VALUES ('automerge', 0);
INSERT INTO fts (fts, rank) VALUES ('hashsize', 67108864);
