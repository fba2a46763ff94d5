package prune

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
)

// PlanFormat is the version of the JSON form of plans.
const PlanFormat = 1

// Plan is exactly what one prune will do, and why. It must be closed.
type Plan struct {
	planHead
	Runs     List[PlannedRun]     // by id
	Spared   List[PlannedRun]     // asked for, but pinned, held or as thin already
	Versions List[PlannedVersion] // by path, source and number
	planTail

	runs, spared []planned // as Runs and Spared
	words        []int64   // bytes of full text, as Runs, once they are counted
	held         []held    // as Versions, but for a plan that was saved
}

// planHead is what a plan is.
type planHead struct {
	Format  int       `json:"format"`
	ID      string    `json:"plan_id"`
	Created time.Time `json:"created"`
	By      string    `json:"by"`             // policy, query or run
	Source  string    `json:"source"`         // name of the policy, the query, or the runs
	Policy  string    `json:"policy"`         // its text, "" when none decided
	Costs   bool      `json:"looks_at_costs"` // the cost of a run decides, too
}

// planTail is what comes of it.
type planTail struct {
	Kept    int      `json:"kept_runs"`
	Emptied []string `json:"emptied_groups"`
	Left    []Left   `json:"left_payloads"` // what the tier payloads leaves
	Frees   Frees    `json:"frees"`
}

// PlannedRun is a run and what becomes of it.
type PlannedRun struct {
	policy.Decision
	Format  string     `json:"format"`
	Source  string     `json:"source"`
	Native  string     `json:"native_id"`
	Flow    string     `json:"flow"`
	Title   string     `json:"title"`
	Started *time.Time `json:"started"`
	State   string     `json:"state"` // hash of all that decides on it and of its originals
}

// planned is what is kept in memory of a run of a plan: there may be a million.
type planned struct {
	id       string
	said     [16]byte // hashes, see stateBytes
	number   int32    // in the stand
	order    int32    // in which it was laid down
	rows     int32    // of the index
	ends     bool     // everything of it goes but its ledger
	pruned   bool     // it is no more then
	payloads bool     // it is thinned to that tier
	thinned  bool     // before
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
}

// held is an original that runs of a plan hold, in the index.
type held struct {
	id     int64
	run    int32 // place of the first of its runs
	buried bool  // already
}

// name is the path as it is.
func (v *PlannedVersion) name() string {
	if v.PathRaw != nil {
		return string(v.PathRaw)
	}
	return v.Path
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

// Make makes a plan. Errors: ErrEmptyPolicy, *EmptiedError, ErrNotFound for a run that is not there.
func (p *Pruner) Make(ctx context.Context, c Choice) (*Plan, error) {
	if c.Policy != nil && c.Policy.Empty() && !c.AllowEmpty {
		return nil, ErrEmptyPolicy
	}
	s, err := p.survey(ctx, c.Policy != nil && c.Policy.UsesCost())
	if err != nil {
		return nil, err
	}
	plan, err := p.make(ctx, c, s)
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	if len(plan.Emptied) > 0 && !c.AllowEmpty {
		return nil, errors.Join(&EmptiedError{plan.Emptied}, plan.Close())
	}
	return plan, nil
}

func (p *Pruner) make(ctx context.Context, c Choice, s *stand) (_ *Plan, err error) {
	now := p.now()
	plan := p.newPlan()
	plan.planHead = planHead{Format: PlanFormat, Created: now, By: c.By, Source: c.Source, Policy: c.Text, Costs: s.costs}
	defer func() {
		if err != nil {
			err = errors.Join(err, plan.Close())
		}
	}()
	choose := s.byHand
	if c.Policy != nil {
		choose = s.byPolicy
	}
	if err := choose(plan, c, now); err != nil {
		return nil, err
	}
	arrange(plan.runs, &plan.Runs)
	arrange(plan.spared, &plan.Spared)
	plan.Kept = s.Len() - plan.Runs.Len()
	if plan.held, err = s.versions(plan.runs, &plan.Versions); err != nil {
		return nil, err
	}
	if plan.ID, err = planID(plan); err != nil {
		return nil, err
	}
	return plan, p.count(ctx, s, plan)
}

// newPlan is a plan of nothing.
func (p *Pruner) newPlan() *Plan {
	plan := &Plan{planTail: planTail{Emptied: []string{}, Left: []Left{}}}
	plan.Runs.room, plan.Spared.room, plan.Versions.room = p.Room, p.Room, p.Room
	plan.Runs.fill = func(i int, r *PlannedRun) {
		x := &plan.runs[i]
		r.State = x.state()
		if plan.words != nil && !x.ends { // no more than words goes
			r.Bytes = plan.words[i]
		}
	}
	plan.Spared.fill = func(i int, r *PlannedRun) { r.State = plan.spared[i].state() }
	return plan
}

// Pruned is how many runs go altogether; the others of Runs become thinner.
func (p *Plan) Pruned() (n int) {
	for i := range p.runs {
		if p.runs[i].pruned {
			n++
		}
	}
	return n
}

// Close lets go of the room that a plan takes.
func (p *Plan) Close() error {
	return errors.Join(p.Runs.close(), p.Spared.close(), p.Versions.close())
}

// arrange puts runs in the order of their numbers.
func arrange(runs []planned, l *List[PlannedRun]) {
	slices.SortFunc(runs, func(a, b planned) int { return cmp.Compare(a.number, b.number) })
	at := make([]int64, len(runs))
	for i := range runs {
		at[i] = l.at[runs[i].order]
	}
	l.at = at
}

// A state is two hashes, one behind the other: of what nobody but people and agents change, the originals of the run (those that were
// looked at) and what people have said of it; and of what else decides on it, which may change when other runs go: a parent, a
// title that stands in another's original, costs that were counted there.
const (
	ownBytes   = 8
	stateBytes = 12
)

func (r *planned) state() string { return hex.EncodeToString(r.said[:stateBytes]) }

// as says that a run is what it was. Once other runs of the plan have gone only its own matters.
func (r *planned) as(was *planned, begun bool) bool {
	n := stateBytes
	if begun {
		n = ownBytes
	}
	return bytes.Equal(r.said[:n], was.said[:n])
}

// byPolicy decides on all runs.
func (s *stand) byPolicy(plan *Plan, c Choice, now time.Time) error {
	groups := policy.Groups{}
	err := c.Policy.Decide(s, now, func(number int, r *policy.Run, d *policy.Decision) error {
		groups.Add(d)
		if d.Action == policy.Keep {
			return nil
		}
		return s.plan(&plan.runs, &plan.Runs, number, r, d)
	})
	plan.Emptied = append(plan.Emptied, groups.Emptied()...)
	return err
}

// decide has a policy decide on all runs as they are.
func (p *Pruner) decide(ctx context.Context, pol *policy.Policy, each func(*policy.Run, *policy.Decision)) error {
	s, err := p.survey(ctx, pol.UsesCost())
	if err != nil {
		return err
	}
	err = pol.Decide(s, p.now(), func(_ int, r *policy.Run, d *policy.Decision) error {
		each(r, d)
		return nil
	})
	return errors.Join(err, s.Close())
}

// Explain decides on one run as a policy does, with all runs around it.
func (p *Pruner) Explain(ctx context.Context, pol *policy.Policy, run string) (decision *policy.Decision, of *policy.Run, err error) {
	err = p.decide(ctx, pol, func(r *policy.Run, d *policy.Decision) {
		if r.ID == run {
			x := *r // the next one takes its place
			of, decision = &x, d
		}
	})
	if err == nil && of == nil {
		err = fmt.Errorf("run %s: %w", run, index.ErrNotFound)
	}
	return decision, of, err
}

// Takes is how many of some runs the policy that was applied last would thin or prune; 0 where there is none.
func (p *Pruner) Takes(ctx context.Context, runs []string) (n int, err error) {
	text, err := p.LastPolicy(ctx)
	if err != nil || text == "" {
		return 0, err
	}
	pol, err := policy.Parse([]byte(text))
	if err != nil {
		return 0, nil // one that is not understood any more takes nothing
	}
	some := make(map[string]bool, len(runs))
	for _, id := range runs {
		some[id] = true
	}
	err = p.decide(ctx, pol, func(r *policy.Run, d *policy.Decision) {
		if some[r.ID] && d.Action != policy.Keep {
			n++
		}
	})
	return n, err
}

// planID is short and the same for the same plan.
func planID(p *Plan) (string, error) {
	all, b := sha256.New(), []byte(nil)
	for r, err := range p.Runs.All() {
		if err != nil {
			return "", err
		}
		b = appendText(appendText(appendText(appendText(b[:0], r.RunID), string(r.Action)), string(r.Tier)), r.State)
		all.Write(b)
	}
	return index.PublicID("p", "plan", p.Created.Format(time.RFC3339Nano), p.By, p.Source, hex.EncodeToString(all.Sum(nil))), nil
}

// plan adds a decision to runs of a plan, with what people want to know of its run.
func (s *stand) plan(runs *[]planned, to *List[PlannedRun], number int, r *policy.Run, d *policy.Decision) error {
	x := PlannedRun{Decision: *d, Format: r.Format, Source: r.Source, Native: r.Native, Flow: r.Flow, Title: r.Title}
	if !r.Started.IsZero() {
		x.Started = &r.Started
	}
	if err := to.add(&x); err != nil {
		return err
	}
	*runs = append(*runs, planned{id: r.ID, said: said(r), number: int32(number), order: int32(len(*runs)), rows: int32(min(s.shown.Rows, math.MaxInt32)),
		ends: x.ends(), pruned: x.Action == policy.Prune, payloads: x.Tier == policy.TierPayloads, thinned: r.Thinned != ""})
	return nil
}

// said is hashes of everything that a policy may look at, but sizes as stored, which gc changes.
func said(r *policy.Run) (all [16]byte) {
	b := appendText(appendText(make([]byte, 0, 512), r.ID), string(r.Thinned))
	for _, tag := range r.Tags {
		b = appendText(b, tag)
	}
	b = strconv.AppendBool(b, r.Pinned)
	for _, h := range r.Holds {
		b = strconv.AppendInt(appendText(appendText(b, h.Owner), h.Reason), h.Expires.UnixMicro(), 10)
	}
	own := sha256.Sum256(b)
	b = b[:0]
	for _, text := range [...]string{r.Native, r.Format, r.Source, r.Group, r.Project, r.Flow, r.Agent, r.Status, string(r.Outcome), r.Model,
		r.Title, r.Parent} {
		b = appendText(b, text)
	}
	for _, t := range []time.Time{r.Started, r.Ended, r.LastActivity} {
		b = strconv.AppendInt(append(b, ' '), t.UnixMicro(), 10)
	}
	b = strconv.AppendInt(append(b, ' '), r.CostNanoUSD.N, 10)
	rest := sha256.Sum256(strconv.AppendBool(b, r.CostNanoUSD.Known))
	copy(all[copy(all[:ownBytes], own[:]):stateBytes], rest[:])
	return all
}

// alsoSays takes in an original of the run, in whatever order they come.
func (r *planned) alsoSays(v *index.InventoryVersion) {
	b := appendText(appendText(make([]byte, 0, 512), v.Source), v.Path)
	b = strconv.AppendInt(b, int64(v.Number), 10)
	sum := sha256.Sum256(strconv.AppendBool(append(b, v.SHA256[:]...), v.Tombstoned))
	subtle.XORBytes(r.said[:ownBytes], r.said[:ownBytes], sum[:])
}

// appendText appends a text so that where it ends can be told.
func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// byHand decides on runs that were named.
func (s *stand) byHand(plan *Plan, c Choice, now time.Time) error {
	missing := map[string]bool{}
	for _, id := range c.Runs {
		missing[id] = true
	}
	chosen, err := s.chosen(c, missing)
	if err != nil {
		return err
	}
	for _, id := range c.Runs {
		if missing[id] {
			return fmt.Errorf("run %s: %w", id, index.ErrNotFound)
		}
	}
	return s.Each(func(number, _ int, r *policy.Run) error {
		how := chosen[number]
		if how == 0 {
			return nil
		}
		reason := "asked for by " + c.By
		if how == follows {
			reason = "follows its parent " + r.Parent
		}
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
			return s.plan(&plan.spared, &plan.Spared, number, r, &d)
		}
		return s.plan(&plan.runs, &plan.Runs, number, r, &d)
	})
}

// How a run was chosen.
const (
	named   = 1
	follows = 2
)

// chosen says of each run, by number, whether it was named, or is a child of such a run or one of its children when these are to
// follow. Names that are found are taken out.
func (s *stand) chosen(c Choice, names map[string]bool) ([]uint8, error) {
	all, parents := make([]uint8, s.Len()), []int32(nil)
	if c.Follow {
		parents = make([]int32, s.Len())
	}
	if err := s.Each(func(number, parent int, r *policy.Run) error {
		if names[r.ID] {
			all[number] = named
			delete(names, r.ID)
		}
		if c.Follow {
			parents[number] = int32(parent)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for more := true; more; {
		more = false
		for number, parent := range parents {
			if all[number] == 0 && parent >= 0 && all[parent] > 0 {
				all[number], more = follows, true
			}
		}
	}
	return all, nil
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
