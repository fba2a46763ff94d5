package gc

import (
	"context"
	"errors"
	"strconv"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// Remainder is a shared member some of whose entries stay, which gc compresses again.
type Remainder struct {
	Pack  string
	Keeps float64    // the stored size, reduced to the share that stays
	Live  [][2]int64 // ranges of the tar stream that stay
}

const (
	// recompressedShare is used if no packs can be sampled: gc compresses more than an ingest.
	recompressedShare = 0.97
	// sampled is how many members are compressed again to measure it.
	sampled = 24
)

// RecompressedRatio returns the size of members after gc has compressed them again, as a share of the size of what
// stays of them. It samples some members, since what stays may compress quite differently from what is removed.
// Without packs it returns a typical ratio.
func RecompressedRatio(ctx context.Context, packs blob.Store, all []Remainder) (share float64, err error) {
	if packs == nil || len(all) == 0 {
		return recompressedShare, nil
	}
	library := pack.NewLibrary(packs, 4<<20)
	defer func() { err = errors.Join(err, library.Close()) }()
	builder := pack.NewBuilder(pack.Options{})
	keeps, becomes := 0.0, int64(0)
	for i := 0; i < len(all); i += (len(all) + sampled - 1) / sampled {
		size, err := all[i].recompress(ctx, library, builder)
		if err != nil {
			return recompressedShare, nil // gc will report what is wrong with it
		}
		keeps, becomes = keeps+all[i].Keeps, becomes+size
	}
	if keeps == 0 {
		return recompressedShare, nil
	}
	return float64(becomes) / keeps, nil
}

// recompress returns how many bytes gc stores for what stays. An entry as large as a member (packs may have larger
// members) becomes a unit by itself, the others are compressed together.
func (x *Remainder) recompress(ctx context.Context, library *pack.Library, builder *pack.Builder) (stored int64, err error) {
	view, err := library.View(ctx, x.Pack)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, view.Pack.Close()) }()
	add := func(unit *pack.Unit) {
		if unit != nil {
			stored += unit.StoredSize()
		}
	}
	for i, at := range x.Live {
		v, e := blob.Version{Path: strconv.Itoa(i), Number: 1}, blob.Extent{Size: at[1] - at[0]}
		unit, err := builder.Put(&v, &e, view.Reader(ctx, at[0], e.Size))
		if err != nil {
			return 0, err
		}
		add(unit)
	}
	add(builder.Flush())
	return stored, nil
}
