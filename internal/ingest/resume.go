package ingest

import (
	"context"
	"errors"
	"io"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// resumeAt returns the offset from which the records of content that has grown are new: the end of the last one that is indexed, or 0 if
// its line has grown, too. Then the line is another one, and what it said no longer holds.
func (vw *versionWriter) resumeAt(state *index.State) (int64, error) {
	rest := io.NewSectionReader(vw.f, state.Parsed, vw.v.Size-state.Parsed)
	if grown, err := lineGoesOn(rest, state.Size-state.Parsed); grown || err != nil {
		return 0, err
	}
	return state.Parsed, nil
}

// resumeStored is resumeAt for content in packs. How long it was when it was indexed is not known.
func (g *Ingester) resumeStored(ctx context.Context, s *index.State) (int64, error) {
	rest := g.Originals.Reader(ctx, extentsFrom(s.Extents, s.Parsed))
	if grown, err := lineGoesOn(rest, 0); grown || err != nil {
		return 0, err
	}
	return s.Parsed, nil
}

// extentsFrom returns the extents of what comes after an offset.
func extentsFrom(extents []blob.Extent, offset int64) (rest []blob.Extent) {
	for _, e := range extents {
		if skip := offset - e.Offset; skip > 0 {
			skip = min(skip, e.Size)
			e.Offset, e.Size = e.Offset+skip, e.Size-skip
			e.CopyOf = &blob.Copy{Pack: e.CopyOf.Pack, Raw: e.CopyOf.Raw + skip}
		}
		if e.Size > 0 {
			rest = append(rest, e)
		}
	}
	return rest
}

// lineGoesOn reports whether a line has more than white space in what follows its record. The first known bytes of that are no news.
func lineGoesOn(r io.Reader, known int64) (bool, error) {
	buf := make([]byte, 512)
	for {
		n, err := r.Read(buf)
		for _, c := range buf[:n] {
			known--
			switch {
			case c == '\n':
				return false, nil
			case known < 0 && c != ' ' && c != '\t' && c != '\r':
				return true, nil
			}
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}
