-- +goose Up

-- What must be parsed again is asked at the beginning and the end of every ingest: it must not look at every version.
CREATE INDEX versions_parser ON versions (format, parser) WHERE format IS NOT NULL AND grave IS NULL;
CREATE INDEX transcripts_wanted ON transcripts (version) WHERE indexed = 2;
