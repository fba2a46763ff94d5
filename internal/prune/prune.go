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

// ChangedError says what is no longer as it was when a plan was made.
type ChangedError struct{ What []string }

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
}

func (p *Pruner) now() time.Time { return p.Now().UTC().Truncate(time.Microsecond) }

// stand is what the archive is like at one moment.
type stand struct {
	*index.Estate
	runs  []policy.Run // as Estate.Runs
	byID  map[string]int
	of    [][]int // versions of each run
	said  []byte  // room for what a hash is made of
	costs bool
}

// survey reads all that plans are made from.
func (p *Pruner) survey(ctx context.Context, costs bool) (*stand, error) {
	estate, err := p.Index.Estate(ctx, costs)
	if err != nil {
		return nil, err
	}
	s := &stand{Estate: estate, runs: make([]policy.Run, len(estate.Runs)), byID: make(map[string]int, len(estate.Runs)), of: make([][]int, len(estate.Runs)), costs: costs}
	for i := range estate.Runs {
		s.runs[i] = policyRun(&estate.Runs[i])
		s.byID[estate.Runs[i].ID] = i
	}
	for i := range estate.Versions {
		v := &estate.Versions[i]
		for _, run := range v.Holders {
			s.of[run] = append(s.of[run], i)
			r := &s.runs[run]
			if r.Source == "" {
				r.Source = v.Source
			}
			if !v.Buried {
				r.Bytes += v.Stored / int64(len(v.Holders))
			}
		}
	}
	return s, p.marks(ctx, s)
}

func policyRun(r *index.EstateRun) policy.Run {
	return policy.Run{ID: r.ID, Native: r.Native, Format: r.Format, Group: r.Group, Project: r.Project, Flow: r.Flow, Agent: r.Agent,
		Status: r.Status, Outcome: r.Outcome, Model: r.Model, Title: r.Title, Parent: r.Parent, CostNanoUSD: r.Cost, Thinned: policy.Tier(r.Thinned),
		Started: instant(r.Started), Ended: instant(r.Ended), LastActivity: instant(r.Active)}
}

func instant(micro int64) time.Time {
	if micro == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micro).UTC()
}

// marks adds what people have said of runs: tags, pins and holds.
func (p *Pruner) marks(ctx context.Context, s *stand) error {
	for f, err := range p.Index.Facts(ctx, index.FactTag) {
		if err != nil {
			return err
		}
		if run, tag, ok := strings.Cut(f.Key, "/"); ok {
			if i, known := s.byID[run]; known {
				s.runs[i].Tags = append(s.runs[i].Tags, tag)
			}
		}
	}
	pins, err := p.Pins(ctx)
	if err != nil {
		return err
	}
	for _, pin := range pins {
		if i, known := s.byID[pin.Run]; known {
			s.runs[i].Pinned = true
		}
	}
	holds, err := p.Holds(ctx)
	if err != nil {
		return err
	}
	for _, h := range holds {
		if i, known := s.byID[h.Run]; known {
			s.runs[i].Holds = append(s.runs[i].Holds, policy.Hold{Owner: h.Owner, Reason: h.Reason, Expires: h.expiry()})
		}
	}
	return nil
}
