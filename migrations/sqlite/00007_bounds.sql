-- +goose Up
-- +goose StatementBegin

-- Between which numbers the usage and the calls of a version lie, so that a search for others passes it by. They are never too
-- narrow, and may be too wide; least is NULL where it is the same as most, both are where there is no such number. Who adds usage and calls adds to them.

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

INSERT INTO bounds
  SELECT version, 1, max(cost), min(cost), max(input), min(input), max(output), min(output), max(tokens), min(tokens), max(duration), min(duration) FROM (
    SELECT version, coalesce(reported, calculated) AS cost, CAST(went AS INTEGER) AS input, output, CAST(coalesce(went + output, went, output) AS INTEGER) AS tokens, NULL AS duration
      FROM (SELECT version, reported, calculated, output, CASE WHEN coalesce(input, cache_read, cache_write, cache_write_1h) IS NOT NULL
        THEN coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0) + coalesce(cache_write_1h, 0) END AS went FROM usage)
    UNION ALL
    SELECT t.version, NULL, NULL, NULL, NULL, x.duration FROM results x CROSS JOIN transcripts t ON t.id = x.transcript
    UNION ALL
    SELECT t.version, NULL, NULL, NULL, NULL, max(0, b.time - CASE n.n WHEN 0 THEN k.first ELSE k.last END)
      FROM (SELECT k.transcript, k.call, min(e.time) AS first, max(e.time) AS last FROM calls k CROSS JOIN events e ON e.id = k.event GROUP BY 1, 2) k
      CROSS JOIN results x ON x.call = k.call AND x.transcript = k.transcript CROSS JOIN events b ON b.id = x.event
      CROSS JOIN (SELECT 0 AS n UNION ALL SELECT 1) n CROSS JOIN transcripts t ON t.id = k.transcript
    UNION ALL
    SELECT version, NULL, NULL, NULL, NULL, NULL FROM transcripts WHERE calls + results > 0)
  GROUP BY version;

UPDATE bounds SET astray = 0 WHERE version NOT IN (
  SELECT t.version FROM calls k CROSS JOIN transcripts t ON t.id = k.transcript WHERE NOT EXISTS (SELECT 1 FROM results x WHERE x.call = k.call AND x.transcript = k.transcript)
  UNION ALL SELECT t.version FROM results x CROSS JOIN transcripts t ON t.id = x.transcript WHERE NOT EXISTS (SELECT 1 FROM calls k WHERE k.call = x.call AND k.transcript = x.transcript));

-- +goose StatementEnd
-- +goose Down
-- +goose StatementBegin
SELECT 1;
-- +goose StatementEnd
