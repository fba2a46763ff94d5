// Package prune removes content from an archive. It owns plans, which say what a policy, a query or a person wants
// removed, and their undoing (Pruner), and pins and holds. A plan that is applied removes rows of the index and writes
// tombstones and ledgers; package gc then removes the bytes under tombstones.
//
// It promises: nothing is removed that a plan does not name; a pin or an unexpired hold overrides everything; a plan
// is refused if anything that it names has changed; a version is removed only with all runs that hold it, or as an
// earlier one that none of them needs; repeating the call after a crash at any point ends in the same state; sources
// are never touched. It does not interpret formats.
package prune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
	"github.com/txarchive/txarchive/internal/prune/gc"
)

// The errors of this package. A call that returns one of them has changed nothing.
var (
	// ErrEmptyPolicy means that a policy has no rules.
	ErrEmptyPolicy = errors.New("the policy has no rules")
	// ErrGone means that gc has already removed bytes that an undo needs.
	ErrGone = errors.New("gc has removed the bytes")
	// ErrPayloads means that a plan drops payloads but Pruner.Payloads is not set.
	ErrPayloads = errors.New("payloads cannot be dropped")
	// ErrNothing means that there is nothing to undo.
	ErrNothing = errors.New("nothing to undo")
)

// EmptiedError means that a plan leaves groups without any run, or (no Groups) the whole archive.
type EmptiedError struct{ Groups []string }

func (e *EmptiedError) Error() string {
	switch len(e.Groups) {
	case 0:
		return "the plan would remove every run of the archive"
	case 1:
		return "the plan would remove every run of " + e.Groups[0]
	}
	return fmt.Sprintf("the plan would remove every run of %d groups, such as %s", len(e.Groups), e.Groups[0])
}

// ChangedError lists what has changed since a plan was made, at most a hundred things.
type ChangedError struct{ What []string }

func (e *ChangedError) add(what string) {
	if len(e.What) < 100 {
		e.What = append(e.What, what)
	}
}

func (e *ChangedError) Error() string {
	return "the archive has changed since the plan was made: " + strings.Join(e.What[:min(3, len(e.What))], "; ")
}

// Index is what plans need of an index.
type Index interface {
	index.Retention
	index.DisplacedReader
	index.FactReader
	// Remember keeps what only concerns this machine, until the index is rebuilt; Recall returns it, "" if there is nothing.
	Remember(ctx context.Context, key, value string) error
	Recall(ctx context.Context, key string) (string, error)
}

// Pruner prunes in one archive.
type Pruner struct {
	Index Index
	Now   func() time.Time
	// Write stores facts in a durable pack and then in the index. Plans do not need it.
	Write func(context.Context, []blob.Fact) error
	// Adopt has the index take up what it lacks of the packs: new ones, and rows that a copy had left to what a plan has removed. Tests
	// without packs have none.
	Adopt func(context.Context) error
	// Payloads is needed only for the tier payloads, and to undo what is displaced (index.Displaced).
	Payloads *Payloads
	// BufferSize is how many bytes of each list of a plan, and of the facts of one pack, are kept in memory; 0 means a
	// default that suffices for most plans.
	BufferSize int
}

// factsBudget returns how many bytes of facts are collected for a pack, and for how many originals facts are computed
// at a time.
func (p *Pruner) factsBudget() (bytes, originals int) {
	bytes = cmp.Or(p.BufferSize, gc.FactsBytes)
	return bytes, min(64, 1+bytes>>12)
}

func (p *Pruner) now() time.Time { return p.Now().UTC().Truncate(time.Microsecond) }

// snapshot is the state of the archive at one moment. It must be closed.
type snapshot struct {
	index.Inventory
	annotations map[string]*annotation // by run id
	costs       bool
	current     *index.InventoryRun // the current run of Each
}

// annotation is what users have recorded about a run.
type annotation struct {
	tags   []string
	pinned bool
	holds  []policy.Hold
}

// snapshot opens a snapshot, from which plans are made.
func (p *Pruner) snapshot(ctx context.Context, o index.InventoryOptions) (*snapshot, error) {
	s := &snapshot{annotations: map[string]*annotation{}, costs: o.Costs}
	if err := p.readAnnotations(ctx, s); err != nil {
		return nil, err
	}
	var err error
	s.Inventory, err = p.Index.Inventory(ctx, o)
	return s, err
}

// Each visits the runs as policies see them. It makes a snapshot a policy.Runs.
func (s *snapshot) Each(do func(number, parent int, r *policy.Run) error) error {
	var run policy.Run
	for r, err := range s.Runs() {
		if err != nil {
			return err
		}
		s.current, run = r, policyRun(r)
		if m := s.annotations[r.ID]; m != nil {
			run.Tags, run.Pinned, run.Holds = append(run.Tags, m.tags...), m.pinned, m.holds
		}
		if err := do(r.Number, r.ParentNumber, &run); err != nil {
			return err
		}
	}
	return nil
}

func policyRun(r *index.InventoryRun) policy.Run {
	return policy.Run{ID: r.ID, Native: r.Native, Format: r.Format, Source: r.Source, Group: r.Group, Project: r.Project, Flow: r.Flow, Agent: r.Agent,
		Status: r.Status, Outcome: r.Outcome, Model: r.Model, Title: r.Title, Parent: r.Parent, Tags: r.Tags, Bytes: r.Bytes, CostNanoUSD: r.Cost, Thinned: policy.Tier(r.Thinned),
		Earlier: r.Earlier, EarlierBytes: r.EarlierBytes,
		Started: instant(r.Started), Ended: instant(r.Ended), LastActivity: instant(r.Active)}
}

func instant(micro int64) time.Time {
	if micro == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micro).UTC()
}

// readAnnotations reads what users have recorded about runs: tags, pins and holds.
func (p *Pruner) readAnnotations(ctx context.Context, s *snapshot) error {
	of := func(run string) *annotation {
		if s.annotations[run] == nil {
			s.annotations[run] = &annotation{}
		}
		return s.annotations[run]
	}
	for f, err := range p.Index.Facts(ctx, index.FactTag) {
		if err != nil {
			return err
		}
		if run, tag, ok := strings.Cut(f.Key, "/"); ok {
			of(run).tags = append(of(run).tags, tag)
		}
	}
	pins, err := p.Pins(ctx)
	if err != nil {
		return err
	}
	for _, pin := range pins {
		of(pin.Run).pinned = true
	}
	holds, err := p.Holds(ctx)
	if err != nil {
		return err
	}
	for _, h := range holds {
		of(h.Run).holds = append(of(h.Run).holds, policy.Hold{Owner: h.Owner, Reason: h.Reason, Expires: h.expiry()})
	}
	return nil
}
