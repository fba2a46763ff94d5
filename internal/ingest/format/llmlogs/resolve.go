package llmlogs

import "github.com/txarchive/txarchive/internal/transcript"

// Resolve lets nothing of a thread's earlier state count for itself. The program has given all messages new hashes more than
// once, so that the same messages would count under the old ones, too; and it deletes none, so the newer state has them all.
func (llmlogs) Resolve(f *transcript.Family) {
	for _, c := range f.Conversations {
		if c.Order == orderThread && c.Verdict == transcript.EarlierVersion {
			c.Verdict = transcript.DerivedTotal
		}
	}
}
