-- +goose Up
-- +goose StatementBegin

-- Two copies of an archive may have archived the growth of one file apart. Their packs then have extents of one chain that overlap: apart
-- is 1. archived is when the state of a version was archived (microseconds): of two that are equally long and have the same content, the
-- later one counts, in whatever order the packs come. 0 is before all.

ALTER TABLE chains ADD COLUMN apart INTEGER NOT NULL DEFAULT 0;
UPDATE chains SET apart = 1 WHERE id IN (SELECT a.chain FROM extents a CROSS JOIN extents b ON b.chain = a.chain AND b.offset > a.offset AND b.offset < a.offset + a.size);
ALTER TABLE versions ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;

-- +goose StatementEnd
-- +goose Down
-- +goose StatementBegin
SELECT 1;
-- +goose StatementEnd
