package ingest_test

import "testing"

// TestEmptyThenForeign fills a file that was taken for a transcript by its name with what no format knows: the index says of it what one says
// that is made again, to which both versions come at once.
func TestEmptyThenForeign(t *testing.T) {
	const active, foreign = "notes/transcript/active.jsonl", "{ is no transcript\n"
	s, w := newTree(t), newWorld(t)
	w.All = true
	s.write(active, "")
	w.ingest("chibi", s.dir, ".")
	w.expect("empty", active, 0, "")
	s.write(active, foreign)
	w.ingest("chibi", s.dir, ".")
	w.expect("foreign", active, 0, "", foreign)
}
