package index

import "cmp"

// Compare defines the order in which Reader.Find yields hits: newest first; hits of the same instant are in an order
// that is the same in every index. It is used to merge several results of one index.
func Compare(a, b *Event) int {
	return cmp.Or(cmp.Compare(b.Near, a.Near), cmp.Compare(a.Conversation, b.Conversation),
		cmp.Compare(b.Seq, a.Seq), cmp.Compare(a.Part, b.Part))
}
