-- +goose Up

-- Of rows with one id, or of one run, those that count are found without the others: a document that is rewritten every hour states
-- all of its events and requests again.
DROP INDEX events_eid;
CREATE INDEX events_eid ON events (eid, verdict) WHERE eid IS NOT NULL;
DROP INDEX usage_public;
CREATE INDEX usage_public ON usage (usage_id, verdict);
DROP INDEX usage_run;
CREATE INDEX usage_run ON usage (run_name, verdict);

-- of names the row that counts instead only where it has another id: one with the same id is found by that.
UPDATE usage SET of = NULL WHERE of IS NOT NULL AND usage_id = (SELECT o.usage_id FROM usage o WHERE o.id = usage.of);

-- +goose Down
-- +goose StatementBegin
SELECT 1;
-- +goose StatementEnd
