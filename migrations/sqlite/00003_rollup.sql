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

-- The numbers that sums are made of. What is unknown adds nothing; usage that does not say how many requests it
-- stands for is one. What no request can have is cut (a million million tokens, a million dollars), so that a
-- broken original cannot make sums overflow.
CREATE VIEW usage_spent AS
SELECT u.run_name, coalesce(u.native_conversation, n.native_id) AS native_conversation, u.version, u.texts,
  coalesce(t.model, '') AS model, n.format,
  CASE WHEN u.calculated IS NULL THEN coalesce(t.price_note, 'not priced') ELSE '' END AS reason, u.reported IS NOT NULL AS has_reported,
  coalesce((u.time - ((u.time % 86400000000) + 86400000000) % 86400000000) / 86400000000, -1000000000) AS day,
  coalesce(((u.time % 86400000000) + 86400000000) % 86400000000 / 3600000000, 0) AS hour,
  1 AS rows,
  max(-1099511627776, min(1099511627776, coalesce(u.requests, 1))) AS requests,
  max(-1099511627776, min(1099511627776, coalesce(u.input, 0))) AS input,
  max(-1099511627776, min(1099511627776, coalesce(u.output, 0))) AS output,
  max(-1099511627776, min(1099511627776, coalesce(u.cache_read, 0))) AS cache_read,
  max(-1099511627776, min(1099511627776, coalesce(u.cache_write, 0))) AS cache_write,
  max(-1099511627776, min(1099511627776, coalesce(u.cache_write_1h, 0))) AS cache_write_1h,
  max(-1099511627776, min(1099511627776, coalesce(u.reasoning, 0))) AS reasoning,
  max(-1000000000000000, min(1000000000000000, coalesce(u.reported, 0))) AS reported,
  max(-1000000000000000, min(1000000000000000, coalesce(u.calculated, 0))) AS calculated
FROM usage u JOIN run_names n ON n.id = u.run_name CROSS JOIN usage_texts t ON t.id = u.texts
WHERE u.verdict = 0;

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
