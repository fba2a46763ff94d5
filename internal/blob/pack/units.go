package pack

import (
	"context"
	"io"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
)

// Units returns the members of each unit of a pack, in order. It derives them from the extents of the manifest: members
// that share an extent belong together. Members of a large entry that no version refers to are returned as separate units,
// which CopyUnit refuses.
func (r *Reader) Units() [][]blob.Member {
	var units [][]blob.Member
	ends := contentEnds(r.summary.stored)
	next, until := 0, int64(0) // ends[:next] begin before the current member; until is the latest end among them
	for _, m := range r.manifest.Members {
		for next < len(ends) && ends[next].raw < m.Raw {
			until = max(until, ends[next].end)
			next++
		}
		if n := len(units); n > 0 && until > m.Raw {
			units[n-1] = append(units[n-1], m)
			continue
		}
		units = append(units, []blob.Member{m})
	}
	return units
}

type contentEnd struct{ raw, end int64 } // end includes the padding

func contentEnds(stored []Content) []contentEnd {
	all := make([]contentEnd, 0, len(stored))
	for _, c := range stored {
		all = append(all, contentEnd{c.Raw, c.Raw + c.Size + padding(c.Size)})
	}
	slices.SortFunc(all, func(a, b contentEnd) int { return int(a.raw - b.raw) })
	return all
}

// Inflate writes the whole tar stream of a pack, including the manifest, by walking from member to member: its output does
// not depend on the manifest. If there are bytes that belong to no member, it writes all others and then returns
// blob.ErrCorrupt.
func Inflate(ctx context.Context, name string, p blob.Pack, w io.Writer) error {
	var failed error
	junk := int64(0)
	rest, err := scan(ctx, name, p, func(f foundMember, raw []byte) {
		junk += f.junk
		if failed == nil {
			_, failed = w.Write(raw)
		}
	})
	switch {
	case err != nil:
		return err
	case failed != nil:
		return failed
	case junk+rest > 0:
		return corrupt(name, 0, "%d bytes that belong to no member", junk+rest)
	}
	return nil
}
