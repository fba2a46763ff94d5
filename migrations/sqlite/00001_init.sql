-- +goose Up
-- +goose StatementBegin

-- The index is derived from the packs as a whole; any table may be dropped and filled again. Times are
-- microseconds since 1970 UTC, money is nano-USD, hashes are 64-bit unless they are SHA-256 blobs.

CREATE TABLE names (             -- strings that repeat: formats, roles, kinds, types, tools, models, agents
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE verdicts (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO verdicts VALUES (0,'counted'),(1,'duplicate'),(2,'copied history'),(3,'derived total'),
  (4,'outside receipt'),(5,'earlier version'),(6,'uncounted');

-- What is stored where ---------------------------------------------------------------------------------

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
) STRICT;

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
  grave    TEXT,                 -- key of the tombstone that lies on it, NULL: none. A buried version stays for its usage and links
  UNIQUE (file, number)
) STRICT;
CREATE INDEX versions_grave ON versions (grave) WHERE grave IS NOT NULL;
CREATE VIEW originals AS SELECT * FROM versions WHERE grave IS NULL;   -- the versions that are there
CREATE INDEX versions_chain ON versions (chain);
CREATE INDEX versions_size ON versions (size);

-- What the originals say -------------------------------------------------------------------------------

CREATE TABLE runs (
  id        INTEGER PRIMARY KEY,
  run_id    TEXT NOT NULL UNIQUE,      -- public: a hash of format, key and anchor
  format    INTEGER NOT NULL REFERENCES names,
  key       TEXT NOT NULL,             -- the native id, '' where the anchor alone is the identity
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
) STRICT;

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
CREATE INDEX events_eid ON events (eid) WHERE eid IS NOT NULL;

CREATE TABLE spilled (                 -- hours under which rows of earlier ones are filed, since those were full
  hour  INTEGER PRIMARY KEY,           -- since 2020
  first INTEGER NOT NULL,              -- no row of the hour is earlier
  last  INTEGER NOT NULL               -- or later
) STRICT;

CREATE VIRTUAL TABLE fts USING fts5 (
  t, content='', contentless_delete=1,
  tokenize = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_{|}~'"
);

-- Merging segments is the expensive half of full-text indexing: a commit flushes one segment of whatever fits into
-- 64 MB of memory, and merges run between commits (DB.Tidy).
INSERT INTO fts (fts, rank) VALUES ('hashsize', 67108864);
INSERT INTO fts (fts, rank) VALUES ('automerge', 0);

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
CREATE INDEX usage_public ON usage (usage_id);
CREATE INDEX usage_alias ON usage (alias >> 36) WHERE alias IS NOT NULL;   -- of its 60 bits 24
CREATE INDEX usage_run ON usage (run_name);
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

-- What only this machine knows; may be lost at any time -----------------------------------------------------

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

-- +goose StatementEnd
-- +goose Down
-- +goose StatementBegin
SELECT 1;
-- +goose StatementEnd
