-- +goose Up
-- +goose StatementBegin

-- What was spent in each hour (UTC) by each model, so that reports over time need not look at every request.
-- Triggers keep it in step with the usage that counts, whoever writes that.

CREATE TABLE usage_series (
  id       INTEGER PRIMARY KEY,
  model    TEXT NOT NULL,            -- '' where none is stated
  format   INTEGER NOT NULL REFERENCES names,
  reason   TEXT NOT NULL,            -- why there is no calculated price, '' where there is one
  has_reported INTEGER NOT NULL,     -- 1: a cost is reported
  UNIQUE (model, format, reason, has_reported)
) STRICT;

CREATE TABLE usage_days (
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

-- Usage that reports a cost and states no tokens: where other usage of its conversation states those, both tell
-- of one spending.
CREATE INDEX usage_cost_only ON usage (run_name, native_conversation) WHERE verdict = 0 AND reported IS NOT NULL AND input IS NULL
  AND output IS NULL AND cache_read IS NULL AND cache_write IS NULL AND cache_write_1h IS NULL;

-- The numbers that sums are made of. What is unknown adds nothing; usage that does not say how many requests it
-- stands for is one. What no request can have is cut (a million million tokens, a million dollars), so that a
-- broken original cannot make sums overflow.
CREATE VIEW usage_spent AS
SELECT u.id, coalesce(u.model, '') AS model, n.format,
  CASE WHEN u.calculated IS NULL THEN coalesce(u.price_note, 'not priced') ELSE '' END AS reason, u.reported IS NOT NULL AS has_reported,
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
FROM usage u JOIN run_names n ON n.id = u.run_name
WHERE u.verdict = 0;

CREATE TRIGGER usage_added AFTER INSERT ON usage WHEN NEW.verdict = 0
BEGIN
  INSERT INTO usage_series (model, format, reason, has_reported)
    SELECT x.model, x.format, x.reason, x.has_reported FROM usage_spent x WHERE x.id = NEW.id
    AND NOT EXISTS (SELECT 1 FROM usage_series s WHERE (s.model, s.format, s.reason, s.has_reported) = (x.model, x.format, x.reason, x.has_reported));
  INSERT INTO usage_days (series, day, hour, rows, requests, input, output, cache_read, cache_write, cache_write_1h, reasoning, reported, calculated)
    SELECT s.id, x.day, x.hour, x.rows, x.requests, x.input, x.output, x.cache_read, x.cache_write, x.cache_write_1h, x.reasoning, x.reported, x.calculated
    FROM usage_spent x CROSS JOIN usage_series s ON (s.model, s.format, s.reason, s.has_reported) = (x.model, x.format, x.reason, x.has_reported)
    WHERE x.id = NEW.id
    ON CONFLICT (series, day, hour) DO UPDATE SET rows = rows + excluded.rows, requests = requests + excluded.requests, input = input + excluded.input, output = output + excluded.output,
    cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_write_1h = cache_write_1h + excluded.cache_write_1h, reasoning = reasoning + excluded.reasoning,
    reported = max(-4000000000000000000, min(4000000000000000000, reported + excluded.reported)),
    calculated = max(-4000000000000000000, min(4000000000000000000, calculated + excluded.calculated));
END;

CREATE TRIGGER usage_removed BEFORE DELETE ON usage WHEN OLD.verdict = 0
BEGIN
  INSERT INTO usage_days (series, day, hour, rows, requests, input, output, cache_read, cache_write, cache_write_1h, reasoning, reported, calculated)
    SELECT s.id, x.day, x.hour, -x.rows, -x.requests, -x.input, -x.output, -x.cache_read, -x.cache_write, -x.cache_write_1h, -x.reasoning, -x.reported, -x.calculated
    FROM usage_spent x CROSS JOIN usage_series s ON (s.model, s.format, s.reason, s.has_reported) = (x.model, x.format, x.reason, x.has_reported)
    WHERE x.id = OLD.id
    ON CONFLICT (series, day, hour) DO UPDATE SET rows = rows + excluded.rows, requests = requests + excluded.requests, input = input + excluded.input, output = output + excluded.output,
    cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_write_1h = cache_write_1h + excluded.cache_write_1h, reasoning = reasoning + excluded.reasoning,
    reported = max(-4000000000000000000, min(4000000000000000000, reported + excluded.reported)),
    calculated = max(-4000000000000000000, min(4000000000000000000, calculated + excluded.calculated));
  DELETE FROM usage_days WHERE rows = 0 AND (series, day, hour) = (SELECT s.id, x.day, x.hour FROM usage_spent x CROSS JOIN usage_series s
    ON (s.model, s.format, s.reason, s.has_reported) = (x.model, x.format, x.reason, x.has_reported) WHERE x.id = OLD.id);
END;

CREATE TRIGGER usage_changes BEFORE UPDATE OF verdict, time, model, run_name, requests, input, output, cache_read, cache_write, cache_write_1h, reasoning, reported, calculated, price_note ON usage
  WHEN (OLD.verdict = 0 OR NEW.verdict = 0) AND (OLD.verdict = 0, OLD.time, OLD.model, OLD.run_name, OLD.requests, OLD.input, OLD.output, OLD.cache_read, OLD.cache_write, OLD.cache_write_1h, OLD.reasoning, OLD.reported, OLD.calculated, OLD.price_note)
    IS NOT (NEW.verdict = 0, NEW.time, NEW.model, NEW.run_name, NEW.requests, NEW.input, NEW.output, NEW.cache_read, NEW.cache_write, NEW.cache_write_1h, NEW.reasoning, NEW.reported, NEW.calculated, NEW.price_note)
BEGIN
  INSERT INTO usage_days (series, day, hour, rows, requests, input, output, cache_read, cache_write, cache_write_1h, reasoning, reported, calculated)
    SELECT s.id, x.day, x.hour, -x.rows, -x.requests, -x.input, -x.output, -x.cache_read, -x.cache_write, -x.cache_write_1h, -x.reasoning, -x.reported, -x.calculated
    FROM usage_spent x CROSS JOIN usage_series s ON (s.model, s.format, s.reason, s.has_reported) = (x.model, x.format, x.reason, x.has_reported)
    WHERE x.id = OLD.id
    ON CONFLICT (series, day, hour) DO UPDATE SET rows = rows + excluded.rows, requests = requests + excluded.requests, input = input + excluded.input, output = output + excluded.output,
    cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_write_1h = cache_write_1h + excluded.cache_write_1h, reasoning = reasoning + excluded.reasoning,
    reported = max(-4000000000000000000, min(4000000000000000000, reported + excluded.reported)),
    calculated = max(-4000000000000000000, min(4000000000000000000, calculated + excluded.calculated));
  DELETE FROM usage_days WHERE rows = 0 AND (series, day, hour) = (SELECT s.id, x.day, x.hour FROM usage_spent x CROSS JOIN usage_series s
    ON (s.model, s.format, s.reason, s.has_reported) = (x.model, x.format, x.reason, x.has_reported) WHERE x.id = OLD.id);
END;

CREATE TRIGGER usage_changed AFTER UPDATE OF verdict, time, model, run_name, requests, input, output, cache_read, cache_write, cache_write_1h, reasoning, reported, calculated, price_note ON usage
  WHEN (OLD.verdict = 0 OR NEW.verdict = 0) AND (OLD.verdict = 0, OLD.time, OLD.model, OLD.run_name, OLD.requests, OLD.input, OLD.output, OLD.cache_read, OLD.cache_write, OLD.cache_write_1h, OLD.reasoning, OLD.reported, OLD.calculated, OLD.price_note)
    IS NOT (NEW.verdict = 0, NEW.time, NEW.model, NEW.run_name, NEW.requests, NEW.input, NEW.output, NEW.cache_read, NEW.cache_write, NEW.cache_write_1h, NEW.reasoning, NEW.reported, NEW.calculated, NEW.price_note)
BEGIN
  INSERT INTO usage_series (model, format, reason, has_reported)
    SELECT x.model, x.format, x.reason, x.has_reported FROM usage_spent x WHERE x.id = NEW.id
    AND NOT EXISTS (SELECT 1 FROM usage_series s WHERE (s.model, s.format, s.reason, s.has_reported) = (x.model, x.format, x.reason, x.has_reported));
  INSERT INTO usage_days (series, day, hour, rows, requests, input, output, cache_read, cache_write, cache_write_1h, reasoning, reported, calculated)
    SELECT s.id, x.day, x.hour, x.rows, x.requests, x.input, x.output, x.cache_read, x.cache_write, x.cache_write_1h, x.reasoning, x.reported, x.calculated
    FROM usage_spent x CROSS JOIN usage_series s ON (s.model, s.format, s.reason, s.has_reported) = (x.model, x.format, x.reason, x.has_reported)
    WHERE x.id = NEW.id
    ON CONFLICT (series, day, hour) DO UPDATE SET rows = rows + excluded.rows, requests = requests + excluded.requests, input = input + excluded.input, output = output + excluded.output,
    cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write, cache_write_1h = cache_write_1h + excluded.cache_write_1h, reasoning = reasoning + excluded.reasoning,
    reported = max(-4000000000000000000, min(4000000000000000000, reported + excluded.reported)),
    calculated = max(-4000000000000000000, min(4000000000000000000, calculated + excluded.calculated));
END;

INSERT INTO usage_series (model, format, reason, has_reported) SELECT DISTINCT model, format, reason, has_reported FROM usage_spent;

INSERT INTO usage_days (series, day, hour, rows, requests, input, output, cache_read, cache_write, cache_write_1h, reasoning, reported, calculated)
SELECT s.id, x.day, x.hour, sum(x.rows), sum(x.requests), sum(x.input), sum(x.output), sum(x.cache_read), sum(x.cache_write), sum(x.cache_write_1h), sum(x.reasoning), sum(x.reported), sum(x.calculated)
FROM usage_spent x JOIN usage_series s ON (s.model, s.format, s.reason, s.has_reported) = (x.model, x.format, x.reason, x.has_reported)
GROUP BY 1, 2, 3;

-- +goose StatementEnd
-- +goose Down
-- +goose StatementBegin
SELECT 1;
-- +goose StatementEnd
