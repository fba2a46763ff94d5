package gc

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// fold is a run of adjacent extents of one chain that become one.
type fold struct {
	chain *Chain
	parts []part
	size  int64
}

// planFolds chooses the extents to join: those that no other chain needs, and only with others of similar size, so
// that no byte is rewritten just to append a few others.
func (b *bundle) planFolds() {
	seen := map[*Chain]bool{}
	for _, v := range b.group {
		for _, x := range v.entries {
			for _, r := range x.refs {
				if !seen[r.Chain] {
					seen[r.Chain] = true
					b.planChain(r.Chain)
				}
			}
		}
	}
}

func (b *bundle) planChain(c *Chain) {
	if c.apart {
		return
	}
	for i := 0; i < len(c.parts); {
		j := b.foldEnd(c.parts, i)
		if j-i < 2 {
			i++
			continue
		}
		f := &fold{chain: c, parts: slices.Clone(c.parts[i:j])}
		for _, p := range f.parts {
			f.size += p.Size
			b.moves[p.at] = &relocation{}
		}
		b.folds = append(b.folds, f)
		i = j
	}
}

// foldEnd returns the end of the longest run starting at i that is worth joining.
func (b *bundle) foldEnd(parts []part, i int) (end int) {
	total, largest := int64(0), int64(0)
	for j := i; j < len(parts); j++ {
		p := parts[j]
		if p.at == nil || b.members[p.at.Pack] == nil || len(p.at.refs) > 1 || p.Offset != parts[i].Offset+total || total+p.Size > pack.ExtentSize {
			break
		}
		total, largest = total+p.Size, max(largest, p.Size)
		if total <= b.gc.Format.Member() || 2*largest <= total {
			end = j + 1
		}
	}
	return end
}

// join writes the extents of a fold as one entry of the main pack. If names conflict there, they go as they are into additional packs: those
// replace nothing, so beside the old packs, which a crash may leave, a joined extent would look like one of another copy of the archive.
func (b *bundle) join(ctx context.Context, f *fold) error {
	m := &relocation{owner: ref{f.chain, &f.parts[0]}, Extent: blob.Extent{Offset: f.parts[0].Offset, Size: f.size}}
	var content []blob.Extent
	for i := range f.parts {
		m.of, content = append(m.of, f.parts[i].at), append(content, f.parts[i].stored())
	}
	h := sha256.New()
	main, v := b.volumes[len(b.volumes)-1], f.chain.version()
	err := main.writer.Put(&v, &m.Extent, io.TeeReader(b.library.Reader(ctx, content), h))
	if errors.Is(err, pack.ErrNameTaken) {
		return b.copyParts(ctx, f)
	}
	if err != nil {
		return fmt.Errorf("join extents of %s/%s: %w", f.chain.Source, f.chain.Path, err)
	}
	m.SHA256 = blob.Ref(h.Sum(nil))
	b.place(main, m)
	return nil
}

// copyParts copies the extents of a fold one by one.
func (b *bundle) copyParts(ctx context.Context, f *fold) error {
	for i := range f.parts {
		p := &f.parts[i]
		if err := b.put(ctx, b.relocate(p.at), b.library.Reader(ctx, []blob.Extent{p.stored()})); err != nil {
			return err
		}
	}
	return nil
}
