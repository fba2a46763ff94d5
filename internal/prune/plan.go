package prune

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
)

// PlanFormat is the version of the JSON form of plans.
const PlanFormat = 1

// Plan is exactly what one prune will do, and why.
type Plan struct {
	Format   int              `json:"format"`
	ID       string           `json:"plan_id"`
	Created  time.Time        `json:"created"`
	By       string           `json:"by"`             // policy, query or run
	Source   string           `json:"source"`         // name of the policy, the query, or the runs
	Policy   string           `json:"policy"`         // its text, "" when none decided
	Costs    bool             `json:"looks_at_costs"` // the cost of a run decides, too
	Runs     []PlannedRun     `json:"runs"`
	Spared   []PlannedRun     `json:"spared"` // asked for, but pinned, held or as thin already
	Versions []PlannedVersion `json:"versions"`
	Kept     int              `json:"kept_runs"`
	Emptied  []string         `json:"emptied_groups"`
	Left     []Left           `json:"left_payloads"` // what the tier payloads leaves
	Frees    Frees            `json:"frees"`
}

// PlannedRun is a run and what becomes of it.
type PlannedRun struct {
	policy.Decision
	Format  string     `json:"format"`
	Source  string     `json:"source"`
	Native  string     `json:"native_id"`
	Title   string     `json:"title"`
	Started *time.Time `json:"started"`
	State   string     `json:"state"` // hash of all that decides on it and of its originals
}

// PlannedVersion is an original that runs of the plan hold.
type PlannedVersion struct {
	Source  string   `json:"source"`
	Path    string   `json:"path"`
	PathRaw []byte   `json:"path_b64,omitempty"`
	Number  int      `json:"version"`
	SHA256  blob.Ref `json:"sha256"`
	Size    int64    `json:"size"`
	Goes    bool     `json:"goes"` // else other runs keep it, and only rows of the index go
	Runs    []string `json:"run_ids"`

	at int // in the stand
}

// Frees is what a plan gives back, estimated where it depends on how well something compresses.
type Frees struct {
	Bytes        int64 `json:"bytes"`         // by which the archive shrinks once gc has run: of packs and of the index, less what is written
	PackBytes    int64 `json:"pack_bytes"`    // compressed
	WrittenBytes int64 `json:"written_bytes"` // of packs: ledgers, tombstones, and originals with marks
	IndexBytes   int64 `json:"index_bytes"`   // words, and rows of runs that end
	Packs        int   `json:"packs"`         // that hold what goes
	Members      int   `json:"members"`       // of them, those that gc makes again with less in them
	RawBytes     int64 `json:"raw_bytes"`     // of originals
	Originals    int   `json:"originals"`     // that go
	// Of so many other originals payloads go, which are so many raw bytes.
	Marked       int   `json:"marked"`
	PayloadBytes int64 `json:"payload_bytes"`
}

// Choice is what a plan is made from: a policy, or runs by hand.
type Choice struct {
	Policy     *policy.Policy
	Source     string // for Plan.Source
	By         string
	Text       string // of the policy
	AllowEmpty bool   // also an empty policy, or one that empties groups

	Runs   []string // by hand
	Action policy.Action
	Tier   policy.Tier
	Over   int64
	Drop   bool // the ledger as well
	Follow bool // children go with their parents
}

// Make makes a plan. Errors: ErrEmptyPolicy, *EmptiedError (with the plan), ErrNotFound for a run that is not there.
func (p *Pruner) Make(ctx context.Context, c Choice) (*Plan, error) {
	if c.Policy != nil && c.Policy.Empty() && !c.AllowEmpty {
		return nil, ErrEmptyPolicy
	}
	costs := c.Policy != nil && c.Policy.UsesCost()
	s, err := p.survey(ctx, costs)
	if err != nil {
		return nil, err
	}
	now := p.now()
	var decisions []policy.Decision
	var spared []policy.Decision
	if c.Policy != nil {
		decisions = c.Policy.Apply(s.runs, now)
	} else if decisions, spared, err = s.byHand(c, now); err != nil {
		return nil, err
	}
	plan := &Plan{Format: PlanFormat, Created: now, By: c.By, Source: c.Source, Policy: c.Text, Costs: costs,
		Runs: []PlannedRun{}, Spared: []PlannedRun{}, Versions: []PlannedVersion{}, Emptied: []string{}, Left: []Left{}}
	if c.Policy != nil {
		plan.Emptied = append(plan.Emptied, policy.Emptied(decisions)...)
	}
	for i := range decisions {
		if decisions[i].Action == policy.Keep {
			plan.Kept++
		}
	}
	plan.Runs = slices.Grow(plan.Runs, len(decisions)-plan.Kept)
	for i := range decisions {
		if decisions[i].Action != policy.Keep {
			plan.Runs = append(plan.Runs, s.planned(decisions[i]))
		}
	}
	for _, d := range spared {
		plan.Spared = append(plan.Spared, s.planned(d))
	}
	plan.Kept += len(s.runs) - len(decisions)
	plan.Versions = s.versions(plan.Runs)
	plan.ID = planID(plan)
	if err := p.count(ctx, s, plan); err != nil {
		return nil, err
	}
	if len(plan.Emptied) > 0 && !c.AllowEmpty {
		return plan, &EmptiedError{plan.Emptied}
	}
	return plan, nil
}

// Explain decides on one run as a policy does, with all runs around it.
func (p *Pruner) Explain(ctx context.Context, pol *policy.Policy, run string) (*policy.Decision, *policy.Run, error) {
	s, err := p.survey(ctx, pol.UsesCost())
	if err != nil {
		return nil, nil, err
	}
	i, ok := s.byID[run]
	if !ok {
		return nil, nil, fmt.Errorf("run %s: %w", run, index.ErrNotFound)
	}
	return &pol.Apply(s.runs, p.now())[i], &s.runs[i], nil
}

// planID is short and the same for the same plan.
func planID(p *Plan) string {
	parts := []string{"plan", p.Created.Format(time.RFC3339Nano), p.By, p.Source}
	for _, r := range p.Runs {
		parts = append(parts, r.RunID, string(r.Action), string(r.Tier), r.State)
	}
	return index.PublicID("p", parts...)
}

// planned is a decision with what people want to know of its run.
func (s *stand) planned(d policy.Decision) PlannedRun {
	i := s.byID[d.RunID]
	r := &s.runs[i]
	x := PlannedRun{Decision: d, Format: r.Format, Source: r.Source, Native: r.Native, Title: r.Title, State: s.state(i)}
	if !r.Started.IsZero() {
		x.Started = &r.Started
	}
	return x
}

// state is a hash of everything that a policy may look at, but sizes as stored, which gc changes, and of the originals
// of a run.
func (s *stand) state(i int) string {
	r := &s.runs[i]
	b := s.said[:0]
	for _, text := range [...]string{r.ID, r.Native, r.Format, r.Source, r.Group, r.Project, r.Flow, r.Agent, r.Status, string(r.Outcome), r.Model,
		r.Title, r.Parent, string(r.Thinned)} {
		b = appendText(b, text)
	}
	for _, tag := range r.Tags {
		b = appendText(b, tag)
	}
	for _, t := range []time.Time{r.Started, r.Ended, r.LastActivity} {
		b = strconv.AppendInt(append(b, ' '), t.UnixMicro(), 10)
	}
	b = strconv.AppendInt(append(b, ' '), r.CostNanoUSD.N, 10)
	b = strconv.AppendBool(strconv.AppendBool(b, r.CostNanoUSD.Known), r.Pinned)
	for _, h := range r.Holds {
		b = strconv.AppendInt(appendText(appendText(b, h.Owner), h.Reason), h.Expires.UnixMicro(), 10)
	}
	for _, at := range s.of[i] {
		v := &s.Versions[at]
		b = appendText(appendText(b, v.Source), v.Path)
		b = strconv.AppendInt(b, int64(v.Number), 10)
		b = append(b, v.SHA256[:]...)
		b = strconv.AppendBool(b, v.Buried)
	}
	s.said = b
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// appendText appends a text so that where it ends can be told.
func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// byHand decides on runs that were named.
func (s *stand) byHand(c Choice, now time.Time) (decisions, spared []policy.Decision, err error) {
	chosen := map[int]string{}
	for _, id := range c.Runs {
		i, ok := s.byID[id]
		if !ok {
			return nil, nil, fmt.Errorf("run %s: %w", id, index.ErrNotFound)
		}
		chosen[i] = "asked for by " + c.By
	}
	if c.Follow {
		s.follow(chosen)
	}
	for i := range s.runs {
		reason, ok := chosen[i]
		if !ok {
			continue
		}
		r := &s.runs[i]
		d := policy.Decision{RunID: r.ID, Action: c.Action, Ledger: !c.Drop, Bytes: r.Bytes, Reasons: []string{reason}}
		if c.Action == policy.Thin {
			d.Tier, d.Over = c.Tier, c.Over
		}
		if why := protection(r, now); why != "" {
			d.Action, d.Tier, d.Over, d.Bytes, d.Reasons = policy.Keep, "", 0, 0, []string{why}
		} else if d.Action == policy.Thin && depth(r.Thinned) >= depth(d.Tier) {
			d.Action, d.Tier, d.Over, d.Bytes, d.Reasons = policy.Keep, "", 0, 0, []string{"already thinned to tier " + string(r.Thinned)}
		}
		if d.Action == policy.Keep {
			spared = append(spared, d)
			continue
		}
		decisions = append(decisions, d)
	}
	return decisions, spared, nil
}

func depth(t policy.Tier) int {
	switch t {
	case policy.TierSearch:
		return 1
	case policy.TierPayloads:
		return 2
	case policy.TierLedger:
		return 3
	}
	return 0
}

// follow adds the children of chosen runs, and theirs.
func (s *stand) follow(chosen map[int]string) {
	for more := true; more; {
		more = false
		for i := range s.runs {
			parent, known := s.byID[s.runs[i].Parent]
			if _, in := chosen[i]; in || !known {
				continue
			}
			if _, in := chosen[parent]; in {
				chosen[i], more = "follows its parent "+s.runs[i].Parent, true
			}
		}
	}
}

// protection says what keeps a run whatever anyone asks for, "" when nothing does.
func protection(r *policy.Run, now time.Time) string {
	if r.Pinned {
		return "pinned"
	}
	for _, h := range r.Holds {
		if h.Expires.IsZero() || h.Expires.After(now) {
			return "held by " + h.Owner
		}
	}
	return ""
}

// ReadPlan reads a plan that was saved.
func ReadPlan(data []byte) (*Plan, error) {
	p := &Plan{}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	if p.Format == 0 || p.ID == "" {
		return nil, errors.New("read plan: this is no plan")
	}
	if p.Format > PlanFormat {
		return nil, fmt.Errorf("read plan: its format %d is newer than this program", p.Format)
	}
	if p.ID != planID(p) {
		return nil, errors.New("read plan: it was changed by hand")
	}
	return p, nil
}
