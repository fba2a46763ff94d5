-- +goose Up
-- +goose StatementBegin

-- What was spent in each hour (UTC), by conversation and step and by model, so that reports need not look at every
-- request. Whoever adds usage notes its run, triggers note those of usage that changes or goes; before a transaction
-- commits, the sums of these are made again (sum_keep.go).

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

-- Usage that reports a cost and states no tokens: where other usage of its conversation states those, both tell
-- of one spending.
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

INSERT INTO usage_touched SELECT DISTINCT run_name FROM usage WHERE verdict = 0;

-- +goose StatementEnd
-- +goose Down
-- +goose StatementBegin
SELECT 1;
-- +goose StatementEnd
