-- +goose Up
-- +goose StatementBegin

CREATE INDEX conversations_project ON conversations (project COLLATE NOCASE) WHERE project IS NOT NULL;
CREATE INDEX runs_project ON runs (project COLLATE NOCASE) WHERE project IS NOT NULL;

-- How much a search looks through, so that each answer can say so without counting. Who adds transcripts adds to it, triggers
-- keep it in step with those that change or go.

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

INSERT INTO transcript_sums (verdict, events, rows)
  SELECT verdict, sum(events), sum(CASE indexed WHEN 1 THEN rows ELSE 0 END) FROM transcripts GROUP BY verdict;

-- +goose StatementEnd
-- +goose Down
-- +goose StatementBegin
SELECT 1;
-- +goose StatementEnd
