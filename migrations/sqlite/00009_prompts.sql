-- +goose Up

-- What a history of prompts tells of a run is a copy where a conversation of the run has it, too.
CREATE TABLE prompts (
  event INTEGER PRIMARY KEY,
  text  INTEGER NOT NULL -- hash
) STRICT;

-- +goose Down
-- +goose StatementBegin
SELECT 1;
-- +goose StatementEnd
