package zed

import "github.com/txarchive/txarchive/internal/transcript"

// Resolve counts no request for itself that the sum of any version of the thread may include: an earlier version may have had no sum yet.
func (zed) Resolve(f *transcript.Family) {
	included := map[string]bool{}
	for _, u := range f.Usage {
		if u.Verdict == transcript.DerivedTotal {
			included[u.Key] = true
		}
	}
	for _, u := range f.Usage {
		if included[u.Key] {
			u.Verdict = transcript.DerivedTotal
		}
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (zed) ResolvesUsage() {}
