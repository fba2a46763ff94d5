package format

import "github.com/txarchive/txarchive/internal/transcript"

// ExcludeCache makes the Input of a request, where its producer counts the whole prompt, exclude what was read from and written to a cache.
// It returns false, and changes nothing, if there is more of that than Input: then it is no part of it. Negative numbers, which are no
// counts, exclude nothing.
func ExcludeCache(u *transcript.Usage) bool {
	read, written := max(u.CacheRead.N, 0), max(u.CacheWrite.N, 0)
	if read > u.Input.N || written > u.Input.N-read { // their sum may overflow
		return false
	}
	u.Input.N -= read + written
	return true
}

// AtHome returns the rank of usage that forks of a conversation copy: of records with one key and rank, that counts which is at home,
// in the conversation that made the request.
func AtHome(rank int64, home bool) int64 {
	rank *= 2
	if home {
		rank++
	}
	return rank
}

// Extend sets the beginning of what lasts to the first time that is stated in it, and its end to the latest.
func Extend(started, ended *transcript.Time, at transcript.Time) {
	switch {
	case !at.Valid:
	case !started.Valid:
		*started, *ended = at, at
	case at.UnixMicro > ended.UnixMicro:
		*ended = at
	}
}
