-- +goose Up

-- Where an original states what a run is a fork of, that two runs have copied events is not another link: of those that were found before, only
-- the ones are kept that no stated link tells, neither between the two runs, nor from another run to the copy, nor over forks from the copy to the other.
DELETE FROM links WHERE derived = 1 AND (
  EXISTS (SELECT 1 FROM links l WHERE l.to_id = links.to_id AND (+l.from_id = links.from_id OR l.kind = 'fork') AND l.derived = 0 AND l.uncounted = 0 AND l.format = links.format)
  OR EXISTS (SELECT 1 FROM links l WHERE l.from_id = links.to_id AND +l.to_id = links.from_id AND l.derived = 0 AND l.uncounted = 0 AND l.format = links.format)
  OR to_id IN (WITH RECURSIVE up (id) AS (SELECT links.from_id UNION SELECT l.from_id FROM up CROSS JOIN links l ON l.to_id = up.id
    AND l.kind = 'fork' AND l.derived = 0 AND l.uncounted = 0 AND l.format = links.format) SELECT id FROM up));

-- +goose Down
-- +goose StatementBegin
SELECT 1;
-- +goose StatementEnd
