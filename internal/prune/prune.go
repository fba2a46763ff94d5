// Package prune is the way away. It owns what leaves an archive: the plans of what a policy, a query or a person wants
// gone and their undoing (Pruner), pins and holds, the bytes of versions that lie under tombstones (GC), and what must
// not have been kept at all (Forget).
//
// It promises: nothing goes that a plan does not name; a pin or an unexpired hold wins over everything; a plan is
// refused when anything that it names has changed; a version goes only when every run that it holds goes, and its bytes
// only when no version that stays needs them; a new pack is durable and indexed before an old one is removed, so that
// the same call after a crash at any point ends in the same state; sources are never touched. What formats mean it
// never asks.
package prune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
)

// The errors of this package. Whoever gets one has changed nothing.
var (
	// ErrEmptyPolicy says that a policy has no rules.
	ErrEmptyPolicy = errors.New("the policy has no rules")
	// ErrGone says that the bytes of what should come back are no longer there.
	ErrGone = errors.New("gc has taken the bytes")
	// ErrPayloads says that a plan drops payloads and that there is nobody who could.
	ErrPayloads = errors.New("payloads cannot be dropped here")
	// ErrNothing says that there is nothing to undo.
	ErrNothing = errors.New("nothing was pruned there")
)

// EmptiedError says that a plan leaves groups without any run.
type EmptiedError struct{ Groups []string }

func (e *EmptiedError) Error() string {
	return fmt.Sprintf("the plan leaves no run of %d groups, such as %s", len(e.Groups), e.Groups[0])
}

// ChangedError says what is no longer as it was when a plan was made, or the first hundred of that.
type ChangedError struct{ What []string }

func (e *ChangedError) add(what string) {
	if len(e.What) < 100 {
		e.What = append(e.What, what)
	}
}

func (e *ChangedError) Error() string {
	return "the archive has changed since the plan was made: " + strings.Join(e.What[:min(3, len(e.What))], "; ")
}

// Register is what plans need of an index.
type Register interface {
	index.Retention
	Facts(ctx context.Context, kind string) iter.Seq2[blob.Fact, error]
}

// Pruner prunes in one archive.
type Pruner struct {
	Index Register
	Now   func() time.Time
	// Write stores facts in a durable pack and then in the index. It is not needed for plans.
	Write func(context.Context, []blob.Fact) error
	// Payloads is only needed for the tier payloads.
	Payloads *Payloads
	// Room is how many bytes of each list of a plan are kept in memory, and of the facts of one pack; 0 is what most plans take.
	Room int
}

// The room of facts while they are gathered, and what one takes besides its text. The transaction that takes them in holds several times
// as much.
const (
	factsBytes = 8 << 20
	factBytes  = 200
)

// factsRoom is how many bytes of facts are gathered for a pack, of how many originals at a time.
func (p *Pruner) factsRoom() (bytes, originals int) {
	bytes = cmp.Or(p.Room, factsBytes)
	return bytes, min(64, 1+bytes>>12)
}

func (p *Pruner) now() time.Time { return p.Now().UTC().Truncate(time.Microsecond) }

// stand is what the archive is like at one moment. It must be closed.
type stand struct {
	index.Inventory
	marks map[string]*marked // by run
	costs bool
	shown *index.InventoryRun // the one that Each shows
}

// marked is what people have said of a run.
type marked struct {
	tags   []string
	pinned bool
	holds  []policy.Hold
}

// survey opens all that plans are made from.
func (p *Pruner) survey(ctx context.Context, costs bool) (*stand, error) {
	s := &stand{marks: map[string]*marked{}, costs: costs}
	if err := p.readMarks(ctx, s); err != nil {
		return nil, err
	}
	var err error
	s.Inventory, err = p.Index.Inventory(ctx, costs)
	return s, err
}

// Each goes through the runs as policies look at them: it makes a stand policy.Runs.
func (s *stand) Each(do func(number, parent int, r *policy.Run) error) error {
	var run policy.Run
	for r, err := range s.Runs() {
		if err != nil {
			return err
		}
		s.shown, run = r, policyRun(r)
		if m := s.marks[r.ID]; m != nil {
			run.Tags, run.Pinned, run.Holds = m.tags, m.pinned, m.holds
		}
		if err := do(r.Number, r.ParentNumber, &run); err != nil {
			return err
		}
	}
	return nil
}

func policyRun(r *index.InventoryRun) policy.Run {
	return policy.Run{ID: r.ID, Native: r.Native, Format: r.Format, Source: r.Source, Group: r.Group, Project: r.Project, Flow: r.Flow, Agent: r.Agent,
		Status: r.Status, Outcome: r.Outcome, Model: r.Model, Title: r.Title, Parent: r.Parent, Bytes: r.Bytes, CostNanoUSD: r.Cost, Thinned: policy.Tier(r.Thinned),
		Started: instant(r.Started), Ended: instant(r.Ended), LastActivity: instant(r.Active)}
}

func instant(micro int64) time.Time {
	if micro == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micro).UTC()
}

// readMarks reads what people have said of runs: tags, pins and holds.
func (p *Pruner) readMarks(ctx context.Context, s *stand) error {
	of := func(run string) *marked {
		if s.marks[run] == nil {
			s.marks[run] = &marked{}
		}
		return s.marks[run]
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
