package nightly

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// Pack is a pack that is to be read again from time to time.
type Pack struct {
	Name    string
	Size    int64
	Created time.Time // zero when its name does not tell
}

// ShareOptions say how much is read in a night.
type ShareOptions struct {
	Days  int   // within which every byte is read
	Bytes int64 // at most so many, and one pack at least; 0 is no limit
}

// Share chooses the packs to read tonight. Each night earns one part in Days of all bytes, and those packs that were not
// read for the longest time are read as far as what was earned goes; so a large pack is not read every night. Besides,
// all that would be overdue before the night after the next, and those that were damaged. A pack that was never read
// counts as read when it was written, or when the first night was, so that the first nights are no longer than the
// others. Times in the future, from a clock that was wrong, count as never.
func (s *State) Share(packs []Pack, now time.Time, o ShareOptions) []Pack {
	days := max(o.Days, 1)
	total := int64(0)
	for _, p := range packs {
		total += p.Size
	}
	order := slices.Clone(packs)
	slices.SortStableFunc(order, func(x, y Pack) int {
		return cmp.Or(s.read(x, now).Compare(s.read(y, now)), cmp.Compare(x.Name, y.Name))
	})
	// The next night is a day away, and may begin some hours later than this one.
	limit := now.Add(-time.Duration(days-1)*24*time.Hour + 6*time.Hour)
	due := func(p Pack) bool {
		at := s.read(p, now)
		if _, read := s.Verified[p.Name]; !read && s.Damaged[p.Name] == "" && s.Since.After(at) {
			at = s.Since
		}
		return !at.After(limit)
	}
	if age := now.Sub(s.EarnedAt); age < 0 || age >= 12*time.Hour { // a second job of one night earns nothing
		s.Earned, s.EarnedAt = min(s.Earned+(total+int64(days)-1)/int64(days), total), now.UTC()
	}
	var chosen []Pack
	for sum := int64(0); len(chosen) < len(order); {
		p := order[len(chosen)]
		if s.Earned < p.Size && !due(p) || o.Bytes > 0 && len(chosen) > 0 && sum+p.Size > o.Bytes {
			break
		}
		chosen = append(chosen, p)
		sum += p.Size
		s.Earned = max(s.Earned-p.Size, 0)
	}
	return chosen
}

// read is when a pack was last read as a whole and found to be as stored.
func (s *State) read(p Pack, now time.Time) time.Time {
	if s.Damaged[p.Name] != "" {
		return time.Time{}
	}
	at := p.Created
	if v := s.Verified[p.Name]; v.After(at) {
		at = v
	}
	if at.After(now) {
		at = time.Time{}
	}
	return at
}

// Found keeps what reading a pack gave: "" is as stored.
func (s *State) Found(p Pack, now time.Time, reason string) {
	if reason != "" {
		s.Damaged[p.Name] = reason
		return
	}
	delete(s.Damaged, p.Name)
	s.Verified[p.Name] = now.UTC().Truncate(time.Second)
}

// Forget drops what is known of packs that are not there any more, and remembers how much those that are take.
func (s *State) Forget(packs []Pack) {
	s.PackBytes = 0
	there := make(map[string]bool, len(packs))
	for _, p := range packs {
		there[p.Name] = true
		s.PackBytes += p.Size
	}
	for name := range s.Verified {
		if !there[name] {
			delete(s.Verified, name)
		}
	}
	for name := range s.Damaged {
		if !there[name] {
			delete(s.Damaged, name)
		}
	}
}

// Coverage says how much of the packs was read lately.
type Coverage struct {
	Days    int        `json:"days"`
	Bytes   int64      `json:"bytes"`          // of all packs
	Covered int64      `json:"covered_bytes"`  // read, or written, within Days
	Oldest  *time.Time `json:"oldest"`         // when the pack was read that was not for the longest time; null when unknown
	Damaged int64      `json:"damaged_packs"`  // when they were last read
	Missing int64      `json:"never_verified"` // packs that were not read since they were written
}

// Coverage sums up what was read lately.
func (s *State) Coverage(packs []Pack, now time.Time, days int) Coverage {
	c := Coverage{Days: days}
	for i, p := range packs {
		at := s.read(p, now)
		c.Bytes += p.Size
		if now.Sub(at) <= time.Duration(days)*24*time.Hour {
			c.Covered += p.Size
		}
		if _, ok := s.Verified[p.Name]; !ok {
			c.Missing++
		}
		if s.Damaged[p.Name] != "" {
			c.Damaged++
		}
		if i == 0 || c.Oldest != nil && at.Before(*c.Oldest) {
			c.Oldest = &at
		}
	}
	if c.Oldest != nil && c.Oldest.IsZero() {
		c.Oldest = nil
	}
	return c
}

// Fingerprint tells one list of packs from another: they never change and never come twice.
func Fingerprint(packs []Pack) string {
	h := sha256.New()
	for _, p := range packs {
		h.Write([]byte(p.Name + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
