package archive

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/disk"
)

// DamagedSuffix ends the names under which a restore writes what is left of originals: nobody takes them for whole.
const DamagedSuffix = "@damaged"

// within are those of the losses that touch the first size bytes.
func within(all []blob.Loss, size int64) (lost []blob.Loss) {
	for _, l := range all {
		if l.Offset < size {
			l.Size = min(l.Size, size-l.Offset)
			lost = append(lost, l)
		}
	}
	return lost
}

// remains writes what is left of an original that has lost bytes. Every byte stands where it stood; zeros stand for
// those that are lost.
func (r *restorer) remains(ctx context.Context, j job) Restored {
	d := j.outcome(ActionDamaged, lostError(&j.lost[0]))
	d.Lost = j.lost
	if r.opts.DryRun {
		return d
	}
	attr := disk.Attributes{Mode: fs.FileMode(j.Mode), ModTime: j.ModTime, Overwrite: r.opts.Overwrite}
	if err := j.to.root.Create(j.name, attr, func(w io.Writer) error { return j.writeRemains(ctx, w) }); err != nil {
		return j.outcome(ActionFailed, fmt.Errorf("what is left of it: %w", err))
	}
	return d
}

func (j *job) writeRemains(ctx context.Context, w io.Writer) error {
	at := int64(0)
	sound := func(to int64) error {
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
		if err := sound(l.Offset); err != nil {
			return err
		}
		n, err := io.CopyN(w, zeros{}, max(0, l.Offset+l.Size-at))
		if at += n; err != nil {
			return err
		}
	}
	return sound(j.Size)
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
