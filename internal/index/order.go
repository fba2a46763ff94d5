package index

import "cmp"

// Compare is the order in which Reader.Find yields hits: newest first, and inside an instant a way that is the same
// everywhere. Several answers of one index are merged by it.
func Compare(a, b *Hit) int {
	return cmp.Or(cmp.Compare(b.Near, a.Near), cmp.Compare(a.Conversation, b.Conversation),
		cmp.Compare(b.Seq, a.Seq), cmp.Compare(a.Part, b.Part))
}
