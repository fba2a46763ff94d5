-- +goose Up
-- +goose StatementBegin

-- What facts of kind ledger say was pruned or thinned.

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

-- +goose StatementEnd
-- +goose Down
-- +goose StatementBegin
SELECT 1;
-- +goose StatementEnd
