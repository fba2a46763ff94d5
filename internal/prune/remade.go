package prune

import (
	"context"
	"errors"
	"strconv"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// remains is a shared member of which some entries stay. gc makes it again.
type remains struct {
	pack  string
	keeps float64    // bytes: the share of what stays
	live  [][2]int64 // stretches of the tar stream
}

const (
	// What is made again is compressed more than what an ingest writes. Without packs to look at, this is by how much.
	remadeShare = 0.97
	// looked is how many members are made again to find it out.
	looked = 24
)

// remade is how large members become when they are made again, as a share of what stays of them. It makes some of them
// again, for what stays may compress quite differently from what goes.
func (p *Pruner) remade(ctx context.Context, all []remains) (share float64, err error) {
	if p.Payloads == nil || len(all) == 0 {
		return remadeShare, nil
	}
	library := pack.NewLibrary(p.Payloads.GC.Packs, 4<<20)
	defer func() { err = errors.Join(err, library.Close()) }()
	builder := pack.NewBuilder(pack.Options{})
	keeps, becomes := 0.0, int64(0)
	for i := 0; i < len(all); i += (len(all) + looked - 1) / looked {
		size, err := all[i].remake(ctx, library, builder)
		if err != nil {
			return remadeShare, nil // gc will say what is wrong with it
		}
		keeps, becomes = keeps+all[i].keeps, becomes+size
	}
	if keeps == 0 {
		return remadeShare, nil
	}
	return float64(becomes) / keeps, nil
}

// remake is how many bytes gc stores what stays in: an entry that is as large as a member by itself, as those of packs whose members
// were larger may be, the others together.
func (x *remains) remake(ctx context.Context, library *pack.Library, builder *pack.Builder) (stored int64, err error) {
	view, err := library.View(ctx, x.pack)
	if err != nil {
		return 0, err
	}
	add := func(unit *pack.Unit) {
		if unit != nil {
			stored += unit.StoredSize()
		}
	}
	for i, at := range x.live {
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
