package archive

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/disk"
)

// DamagedSuffix is the suffix of names of files that were restored only in part, so that nobody takes them for whole.
const DamagedSuffix = "@damaged"

// lossesWithin returns the losses in the first size bytes, cut to that range.
func lossesWithin(all []blob.Loss, size int64) (lost []blob.Loss) {
	for _, l := range all {
		if l.Offset < size {
			l.Size = min(l.Size, size-l.Offset)
			lost = append(lost, l)
		}
	}
	return lost
}

// restoreDamaged writes what is left of an original that has lost bytes. Every byte keeps its offset; lost bytes are zeros.
func (r *restorer) restoreDamaged(ctx context.Context, j job) Restored {
	d := j.outcome(ActionDamaged, lostError(&j.lost[0]))
	d.Lost = j.lost
	if r.opts.DryRun {
		return d
	}
	attr := disk.Attributes{Mode: fs.FileMode(j.Mode), ModTime: j.ModTime, Overwrite: r.opts.Overwrite}
	if err := j.to.root.Create(j.name, attr, func(w io.Writer) error { return j.writeDamaged(ctx, w) }); err != nil {
		return j.outcome(ActionFailed, fmt.Errorf("what is left of it: %w", err))
	}
	return d
}

func (j *job) writeDamaged(ctx context.Context, w io.Writer) error {
	at := int64(0)
	copyUntil := func(to int64) error {
		if at >= to {
			return nil
		}
		n, err := io.Copy(w, j.part(ctx, at, to))
		if err == nil && n != to-at {
			err = io.ErrUnexpectedEOF
		}
		at = to
		return err
	}
	for _, l := range j.lost {
		if err := copyUntil(l.Offset); err != nil {
			return err
		}
		n, err := io.CopyN(w, zeros{}, max(0, l.Offset+l.Size-at))
		if at += n; err != nil {
			return err
		}
	}
	return copyUntil(j.Size)
}

// zeros is an endless reader of zero bytes.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
