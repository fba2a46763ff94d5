package ingest_test

import "testing"

// TestEmptyThenForeign has an empty file that is a transcript by its name, and then gets content that no format knows: the index is the same as
// after a reindex, which sees both versions at once.
func TestEmptyThenForeign(t *testing.T) {
	const active, foreign = "notes/transcript/active.jsonl", "{ is no transcript\n"
	s, w := newTree(t), newWorld(t)
	w.All = true
	s.write(active, "")
	w.ingest("chibi", s.dir, ".")
	w.checkVersions("empty", active, 0, "")
	s.write(active, foreign)
	w.ingest("chibi", s.dir, ".")
	w.checkVersions("foreign", active, 0, "", foreign)
}
