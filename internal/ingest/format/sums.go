package format

import "github.com/txarchive/txarchive/internal/transcript"

// ExcludeCache makes the Input of a request, where its producer counts the whole prompt, exclude what was read from and written to a cache.
// It returns false, and changes nothing, if there is more of that than Input: then it is no part of it.
func ExcludeCache(u *transcript.Usage) bool {
	cached := u.CacheRead.N + u.CacheWrite.N
	if cached > u.Input.N {
		return false
	}
	u.Input.N -= cached
	return true
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
