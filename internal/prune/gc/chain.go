package gc

import (
	"time"

	"github.com/txarchive/txarchive/internal/blob"
)

// Chain is one content and its growth. There is one for each original, so its size matters.
type Chain struct {
	*kind
	Path             string
	Number           int
	Root, SHA256     blob.Ref
	Size             int64
	ModTime          time.Time
	Archived         time.Time
	Mode             uint32
	dead, tombstoned bool // tombstoned: it has a tombstone; dead: and the grace period is over
	apart            bool // parts overlap
	parts            []part
	allStates        []blob.State // all recorded states, if there is more than the present one
	next             *Chain       // next in the hash bucket
}

// kind is what many originals have in common; it is stored once.
type kind struct{ Source, Format, Role, Claim string }

// version returns the present state, without extents.
func (c *Chain) version() blob.Version {
	return blob.Version{Source: c.Source, Path: c.Path, Number: c.Number, Root: c.Root, Size: c.Size, SHA256: c.SHA256,
		ModTime: c.ModTime, Mode: c.Mode, Format: c.Format, Role: c.Role, Claim: c.Claim}
}

func (c *Chain) key() blob.Chain { return blob.Chain{Name: c.name(), Number: c.Number, Root: c.Root} }

func (c *Chain) name() blob.Name { return blob.Name{Source: c.Source, Path: c.Path} }

// update makes a version the present state.
func (c *Chain) update(v *blob.Version, k *kind) {
	c.kind, c.Size, c.SHA256, c.ModTime, c.Mode = k, v.Size, v.SHA256, v.ModTime, v.Mode
}

// states returns all recorded states, in order.
func (c *Chain) states() []blob.State {
	if c.allStates != nil {
		return c.allStates
	}
	return []blob.State{{Archived: c.Archived, Size: c.Size, SHA256: c.SHA256, ModTime: c.ModTime, Mode: c.Mode}}
}

// present returns the present state.
func (c *Chain) present() blob.State {
	all := c.states()
	return all[len(all)-1]
}

// setStates sets the recorded states.
func (c *Chain) setStates(all []blob.State) {
	c.Archived, c.allStates = all[0].Archived, nil
	if len(all) > 1 {
		c.allStates = all
	}
}

// part is an extent of a chain as in a manifest. at is nil if no pack has its bytes.
type part struct {
	blob.Extent
	by string // the pack with that manifest
	at *entry
}
