package nightly

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// Pack is a pack to be verified regularly.
type Pack struct {
	Name    string
	Size    int64
	Created time.Time // zero if its name does not tell
}

// VerifyDays is within how many days every byte is read again, unless somebody says otherwise.
const VerifyDays = 30

// SelectOptions say how much is read in a night.
type SelectOptions struct {
	Days  int   // every byte is read at least once in this many days
	Bytes int64 // limit per night, but at least one pack is read; 0 is no limit
}

// SelectPacks selects the packs to read tonight. Each night adds the Days-th part of all bytes to a budget (Earned), and the
// least recently read packs are read as far as the budget lasts, so that a large pack is not read every night. Packs that would
// be overdue before the night after the next, and those that were damaged, are read in any case. A pack that was never read
// counts as read when it was written, or at the time of the first night, so that the first nights take no longer than the
// others. Times in the future, from a clock that was wrong, count as never.
func (s *State) SelectPacks(packs []Pack, now time.Time, o SelectOptions) []Pack {
	days := max(o.Days, 1)
	total := int64(0)
	for _, p := range packs {
		total += p.Size
	}
	order := slices.Clone(packs)
	slices.SortStableFunc(order, func(x, y Pack) int {
		return cmp.Or(s.lastRead(x, now).Compare(s.lastRead(y, now)), cmp.Compare(x.Name, y.Name))
	})
	// The next night is a day away, and may begin some hours later than this one.
	limit := now.Add(-time.Duration(days-1)*24*time.Hour + 6*time.Hour)
	due := func(p Pack) bool {
		at := s.lastRead(p, now)
		if _, read := s.Verified[p.Name]; !read && s.Damaged[p.Name] == "" && s.Since.After(at) {
			at = s.Since
		}
		return !at.After(limit)
	}
	if age := now.Sub(s.EarnedAt); age < 0 || age >= 12*time.Hour { // a second job in the same night adds nothing
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

// lastRead returns when a pack was last read whole and found undamaged, or when it was written.
func (s *State) lastRead(p Pack, now time.Time) time.Time {
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

// RecordVerify records the result of reading a pack. reason is what is wrong with it, "" if it is undamaged.
func (s *State) RecordVerify(p Pack, now time.Time, reason string) {
	if reason != "" {
		s.Damaged[p.Name] = reason
		return
	}
	delete(s.Damaged, p.Name)
	s.Verified[p.Name] = now.UTC().Truncate(time.Second)
}

// Forget removes the records of packs that no longer exist, and sets PackBytes to the size of those that do.
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

// Coverage is how much of the packs was read recently.
type Coverage struct {
	Days    int        `json:"days"`
	Bytes   int64      `json:"bytes"`          // of all packs
	Covered int64      `json:"covered_bytes"`  // read, or written, within Days
	Oldest  *time.Time `json:"oldest"`         // when the least recently read pack was read; null if unknown
	Damaged int64      `json:"damaged_packs"`  // packs that were damaged when last read
	Missing int64      `json:"never_verified"` // packs that were not read since they were written
}

// Coverage returns how much of the packs was read in the last days.
func (s *State) Coverage(packs []Pack, now time.Time, days int) Coverage {
	c := Coverage{Days: days}
	for i, p := range packs {
		at := s.lastRead(p, now)
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

// Fingerprint identifies a list of packs by their names, which is enough because packs never change and names are never reused.
func Fingerprint(packs []Pack) string {
	h := sha256.New()
	for _, p := range packs {
		h.Write([]byte(p.Name + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
