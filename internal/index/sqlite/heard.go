package sqlite

import (
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Most runs are new, and only originals of the commit speak of them. What follows for them is then found in what those were just
// heard to say, and need not be read again: to write, read and parse it and to change the rows took longer than all else that follows.

// heard is what this commit was told of a name of a run that it has added itself.
type heard struct {
	claims []claim
	takes  []*take
	unsure bool // what is read of it would be something else
}

// hear notes a claim as loadClaims will read it.
func (c *commit) hear(o *owner, name int64, r *transcript.Run, stated string) {
	h := c.heard[name]
	if h == nil {
		return
	}
	said := *r
	said.Guess, said.Started, said.Ended = false, timeAsRead(r.Started), timeAsRead(r.Ended)
	file := c.fileOf(o)
	h.unsure = !asRead(stated, &said.Attributes) || file == 0 || h.unsure
	h.claims = append(h.claims, claim{name: name, file: file, number: int64(o.Number), Run: &said, stated: stated})
}

// hearTranscript notes a transcript as loadTakes will read it.
func (c *commit) hearTranscript(o *owner, id, name int64, native, stated string, v *index.Holding, indexed bool) {
	h := c.heard[name]
	if h == nil {
		return
	}
	t := &take{id: id, runName: name, version: o.version, file: c.fileOf(o), number: int64(o.Number), native: native, indexed: int(flag(indexed)),
		shared: v.Shared, aside: v.Aside, order: v.Order, rank: int64(v.Rank), lastSeq: v.LastSeq, rows: v.TotalRows,
		sha: o.SHA256[:], parsed: o.Last, source: o.Source, path: o.Path, Conversation: v.Conversation}
	t.Started, t.Ended = timeAsRead(v.Started), timeAsRead(v.Ended)
	h.unsure = !asRead(stated, &t.Attributes) || h.unsure
	h.takes = append(h.takes, t)
	c.takes[id] = t
}

func (c *commit) fileOf(o *owner) int64 { return c.files[fileKey{c.sources[o.Source], o.Path}] }

// asRead makes attributes what they are once they were written as JSON and read again, and says whether that and all else that
// is stated stays what it is.
func asRead(stated string, a *transcript.Attributes) bool {
	const exact = 1 << 53 // of the numbers that JSON gives back as they were
	if strings.Contains(stated, `\ufffd`) {
		return false // of bytes that are no text
	}
	if *a == nil {
		return true
	}
	read := make(transcript.Attributes, len(*a))
	for key, v := range *a {
		switch n := v.(type) {
		case string, bool, float64:
		case int64:
			if v = float64(n); n > exact || n < -exact {
				return false
			}
		default:
			return false
		}
		read[key] = v
	}
	*a = read
	return true
}

// timeAsRead is a time once it was written and read again: one that is unknown says nothing.
func timeAsRead(t transcript.Time) transcript.Time {
	if !t.Valid {
		return transcript.Time{}
	}
	return t
}

// learnByHeart finds the runs of which all is known that was ever said, and returns the others.
func (c *commit) learnByHeart(runs []int64) (rest []int64) {
	c.byHeart = map[int64]bool{}
	for _, run := range runs {
		if c.bornRuns[run] != nil && !c.unsaid && len(c.partial) == 0 && c.heardAll(c.called[run]) {
			c.byHeart[run] = true
		} else {
			rest = append(rest, run)
		}
	}
	return rest
}

func (c *commit) heardAll(names []int64) bool {
	for _, name := range names {
		if h := c.heard[name]; h == nil || h.unsure {
			return false
		}
	}
	return true
}

// heardTakes are the transcripts of a run that is known by heart.
func (c *commit) heardTakes(run int64, lossy map[index.VersionKey]bool) (all []*take, err error) {
	born := c.bornRuns[run]
	format, err := c.formatName(born.format)
	if err != nil {
		return nil, err
	}
	for _, name := range c.called[run] {
		for _, t := range c.heard[name].takes {
			t.run, t.key.format, t.key.native, t.key.anchor = run, format, born.key, born.anchor
			t.lossy = lossy[index.VersionKey{Source: t.source, Path: t.path, Number: int(t.number)}]
			t.was.indexed = t.indexed
			all = append(all, t)
		}
	}
	return all, nil
}
