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
	"iter"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
	"github.com/txarchive/txarchive/internal/transcript"
)

// PlanFormat is the version of the JSON form of plans.
const PlanFormat = 1

// Plan is exactly what one prune will do, and why. It must be closed.
type Plan struct {
	planHead
	Runs     List[PlannedRun]     // by id
	Spared   List[PlannedRun]     // requested, but pinned, held or already as thin
	Versions List[PlannedVersion] // by path, source and number
	planTail
	Idle []string // rules of the policy that decide on no run; not saved

	runs, spared []runState    // parallel to Runs and Spared
	words        []int64       // bytes of full text, parallel to Runs; nil until counted
	held         []heldVersion // parallel to Versions; nil for a plan that was read from a file
}

// planHead identifies a plan.
type planHead struct {
	Format  int             `json:"format"`
	ID      string          `json:"plan_id"`
	Created time.Time       `json:"created"`
	By      string          `json:"by"`             // what the plan is made from: policy, query or run
	Source  string          `json:"source"`         // name of the policy, the query, or the runs
	Policy  transcript.Text `json:"policy"`         // text of the policy, "" if none
	Costs   bool            `json:"looks_at_costs"` // decisions depend on the cost of runs
}

// planTail summarises the effects of a plan.
type planTail struct {
	Kept    int      `json:"kept_runs"`
	Emptied []string `json:"emptied_groups"`
	Left    []Left   `json:"left_payloads"` // payloads that cannot be dropped
	Frees   Frees    `json:"frees"`
}

// PlannedRun is a run and the decision on it.
type PlannedRun struct {
	policy.Decision
	Format  string          `json:"format"`
	Source  string          `json:"source"`
	Native  string          `json:"native_id"`
	Flow    transcript.Text `json:"flow"`
	Title   transcript.Text `json:"title"`
	Started *time.Time      `json:"started"`
	State   string          `json:"state"` // hash of everything the decision depends on, and of its originals
}

// runState is what is kept in memory of a run of a plan: there may be a million.
type runState struct {
	id       string
	hash     [16]byte // see stateBytes
	number   int32    // in the snapshot
	added    int32    // position in which it was added to the list
	rows     int32    // number of its rows in the index
	started  int64    // in microseconds since 1970; the least of all if unknown
	ends     bool     // everything of it is removed except its ledger
	pruned   bool     // the run itself is removed
	payloads bool     // it is thinned to the tier payloads
	versions bool     // it is thinned to the tier versions
	loses    bool     // some of its originals are in the plan
	thinned  bool     // it was thinned before
}

// PlannedVersion is an original that runs of the plan hold.
type PlannedVersion struct {
	Source  string   `json:"source"`
	Path    string   `json:"path"`
	PathRaw []byte   `json:"path_b64,omitempty"`
	Number  int      `json:"version"`
	SHA256  blob.Ref `json:"sha256"`
	Size    int64    `json:"size"`
	Goes    bool     `json:"goes"` // it is removed; otherwise other runs keep it, and only rows of the index are removed
	Runs    []string `json:"run_ids"`
}

// heldVersion is an original that runs of a plan hold, in the index.
type heldVersion struct {
	id         int64
	run        int32 // position of the first of its runs
	rows       int32 // in the index, of a superseded version
	tombstoned bool  // it has a tombstone already
}

// name returns the exact path.
func (v *PlannedVersion) name() string {
	if v.PathRaw != nil {
		return string(v.PathRaw)
	}
	return v.Path
}

// Frees is how much a plan frees. Sizes that depend on compression are estimates.
type Frees struct {
	Bytes        int64 `json:"bytes"`         // by which packs and index shrink once gc has run, less what is written
	PackBytes    int64 `json:"pack_bytes"`    // compressed
	WrittenBytes int64 `json:"written_bytes"` // of new packs: ledgers, tombstones, and originals with marks
	IndexBytes   int64 `json:"index_bytes"`   // full text, and rows of removed runs
	Packs        int   `json:"packs"`         // with content that is removed
	Members      int   `json:"members"`       // members of these that gc compresses again with less content
	RawBytes     int64 `json:"raw_bytes"`     // of removed originals
	Originals    int   `json:"originals"`     // that are removed
	// Marked is how many other originals lose payloads, and PayloadBytes how many raw bytes these are.
	Marked       int   `json:"marked"`
	PayloadBytes int64 `json:"payload_bytes"`
}

// Choice is what a plan is made from: a policy, or runs that were named.
type Choice struct {
	Policy     *policy.Policy
	Source     string // for Plan.Source
	By         string
	Text       string // text of the policy
	AllowEmpty bool   // allow an empty policy, and one that empties groups or the archive

	Runs   []string // ids of the named runs
	Action policy.Action
	Tier   policy.Tier
	Over   int64
	Drop   bool // remove the ledger as well
	Follow bool // children follow their parents
}

// Make makes a plan. Errors: ErrEmptyPolicy, *EmptiedError, index.ErrNotFound for a run that does not exist.
func (p *Pruner) Make(ctx context.Context, c Choice) (*Plan, error) {
	if c.Policy != nil && c.Policy.Empty() && !c.AllowEmpty {
		return nil, ErrEmptyPolicy
	}
	look := index.InventoryOptions{Superseded: c.Tier == policy.TierVersions}
	if c.Policy != nil {
		look = lookOf(c.Policy)
	}
	s, err := p.snapshot(ctx, look)
	if err != nil {
		return nil, err
	}
	plan, err := p.make(ctx, c, s)
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	if !c.AllowEmpty && (len(plan.Emptied) > 0 || c.Policy != nil && plan.emptiesArchive()) {
		return nil, errors.Join(&EmptiedError{plan.Emptied}, plan.Close())
	}
	return plan, nil
}

// emptiesArchive reports whether nothing but ledgers would be left. Rules that do so are hardly meant.
func (p *Plan) emptiesArchive() bool {
	return p.Kept == 0 && len(p.runs) > 0 && !slices.ContainsFunc(p.runs, func(r runState) bool { return !r.ends })
}

func (p *Pruner) make(ctx context.Context, c Choice, s *snapshot) (_ *Plan, err error) {
	now := p.now()
	plan := p.newPlan()
	plan.planHead = planHead{Format: PlanFormat, Created: now, By: c.By, Source: c.Source, Policy: transcript.Text(c.Text), Costs: s.costs}
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
	sortRuns(plan.runs, &plan.Runs)
	sortRuns(plan.spared, &plan.Spared)
	if plan.held, err = s.versions(plan.runs, &plan.Versions); err != nil {
		return nil, err
	}
	plan.dropIdle()
	plan.Kept = s.Len() - plan.Runs.Len()
	if plan.ID, err = planID(plan); err != nil {
		return nil, err
	}
	return plan, p.count(ctx, s, plan)
}

// dropIdle removes runs from the plan that it would take earlier versions of, but other runs keep them all.
func (p *Plan) dropIdle() {
	to, n := make([]int32, len(p.runs)), 0
	for i := range p.runs {
		if r := p.runs[i]; !r.versions || r.loses {
			p.runs[n], p.Runs.at[n], to[i] = r, p.Runs.at[i], int32(n)
			n++
		}
	}
	p.runs, p.Runs.at = p.runs[:n], p.Runs.at[:n]
	for i := range p.held {
		p.held[i].run = to[p.held[i].run]
	}
}

// newPlan returns an empty plan.
func (p *Pruner) newPlan() *Plan {
	plan := &Plan{planTail: planTail{Emptied: []string{}, Left: []Left{}}}
	plan.Runs.limit, plan.Spared.limit, plan.Versions.limit = p.BufferSize, p.BufferSize, p.BufferSize
	plan.Runs.fill = func(i int, r *PlannedRun) {
		x := &plan.runs[i]
		r.State = x.state()
		switch {
		case plan.words == nil || x.ends:
		case x.versions:
			r.Bytes += plan.words[i]
		default: // only full text is removed
			r.Bytes = plan.words[i]
		}
	}
	plan.Spared.fill = func(i int, r *PlannedRun) { r.State = plan.spared[i].state() }
	return plan
}

// NewestFirst yields n runs: those that lose something, then those that are spared, of both the latest first.
func (p *Plan) NewestFirst(n int) iter.Seq2[*PlannedRun, error] {
	lost, spared := newestFirst(p.runs), newestFirst(p.spared)
	return func(yield func(*PlannedRun, error) bool) {
		for at := range min(n, len(lost)+len(spared)) {
			list, order := &p.Runs, lost
			if at >= len(lost) {
				list, order, at = &p.Spared, spared, at-len(lost)
			}
			if r, err := list.get(int(order[at])); !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// started returns what runState has of it.
func (r *PlannedRun) started() int64 {
	if r.Started == nil {
		return math.MinInt64
	}
	return r.Started.UnixMicro()
}

func newestFirst(runs []runState) []int32 {
	order := make([]int32, len(runs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(runs[b].started, runs[a].started) })
	return order
}

// Pruned returns how many runs are removed entirely; the other Runs are thinned.
func (p *Plan) Pruned() (n int) {
	for i := range p.runs {
		if p.runs[i].pruned {
			n++
		}
	}
	return n
}

// Ends reports whether anything is removed of which at most a ledger stays. Else only earlier versions of originals are.
func (p *Plan) Ends() bool {
	return slices.ContainsFunc(p.runs, func(r runState) bool { return r.ends })
}

// Close releases the plan's temporary files.
func (p *Plan) Close() error {
	return errors.Join(p.Runs.close(), p.Spared.close(), p.Versions.close())
}

// sortRuns sorts runs by their numbers.
func sortRuns(runs []runState, l *List[PlannedRun]) {
	slices.SortFunc(runs, func(a, b runState) int { return cmp.Compare(a.number, b.number) })
	at := make([]int64, len(runs))
	for i := range runs {
		at[i] = l.at[runs[i].added]
	}
	l.at = at
}

// A state is two concatenated hashes. The first, of ownBytes, covers what only users and agents change: the run's
// originals (those that were examined) and what users have recorded about it. The second covers what else the
// decision depends on, which may change when other runs are removed: a parent, a title from another run's original,
// costs that were counted there.
const (
	ownBytes   = 8
	stateBytes = 12
)

func (r *runState) state() string { return hex.EncodeToString(r.hash[:stateBytes]) }

// matches reports whether a run is unchanged. Once the plan has begun to remove other runs, only its own hash is
// compared.
func (r *runState) matches(was *runState, begun bool) bool {
	n := stateBytes
	if begun {
		n = ownBytes
	}
	return bytes.Equal(r.hash[:n], was.hash[:n])
}

// byPolicy decides on all runs by a policy.
func (s *snapshot) byPolicy(plan *Plan, c Choice, now time.Time) error {
	groups, decides := policy.Groups{}, map[string]bool{}
	err := c.Policy.Decide(s, now, func(number int, r *policy.Run, d *policy.Decision) error {
		groups.Add(d)
		decides[string(d.Rule)] = true
		if d.Action == policy.Keep {
			return nil
		}
		return s.plan(&plan.runs, &plan.Runs, number, r, d)
	})
	plan.Emptied = append(plan.Emptied, groups.Emptied()...)
	for i := range c.Policy.Rules {
		if name := c.Policy.Rules[i].Name; !decides[name] {
			plan.Idle = append(plan.Idle, name)
		}
	}
	return err
}

// lookOf returns what a policy depends on.
func lookOf(p *policy.Policy) index.InventoryOptions {
	return index.InventoryOptions{Costs: p.UsesCost(), Superseded: p.UsesVersions()}
}

// decide applies a policy to all runs in their present state.
func (p *Pruner) decide(ctx context.Context, pol *policy.Policy, each func(*policy.Run, *policy.Decision)) error {
	s, err := p.snapshot(ctx, lookOf(pol))
	if err != nil {
		return err
	}
	err = pol.Decide(s, p.now(), func(_ int, r *policy.Run, d *policy.Decision) error {
		each(r, d)
		return nil
	})
	return errors.Join(err, s.Close())
}

// Explain returns a policy's decision on one run, in the context of all runs.
func (p *Pruner) Explain(ctx context.Context, pol *policy.Policy, run string) (decision *policy.Decision, of *policy.Run, err error) {
	err = p.decide(ctx, pol, func(r *policy.Run, d *policy.Decision) {
		if r.ID == run {
			x := *r // r is reused for the next run
			of, decision = &x, d
		}
	})
	if err == nil && of == nil {
		err = fmt.Errorf("run %s: %w", run, index.ErrNotFound)
	}
	return decision, of, err
}

// Takes returns how many of the given runs the policy that was applied last would thin or prune; 0 if there is no
// such policy.
func (p *Pruner) Takes(ctx context.Context, runs []string) (n int, err error) {
	text, err := p.LastPolicy(ctx)
	if err != nil || text == "" {
		return 0, err
	}
	pol, err := policy.Parse([]byte(text))
	if err != nil {
		return 0, nil // a policy that cannot be parsed any more takes nothing
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

// planID returns a short id that is the same for equal plans.
func planID(p *Plan) (string, error) {
	all, b := sha256.New(), []byte(nil)
	for r, err := range p.Runs.All() {
		if err != nil {
			return "", err
		}
		b = appendText(appendText(appendText(appendText(b[:0], r.RunID), string(r.Action)), string(r.Tier)), r.State)
		if r.Over > 0 {
			b = binary.AppendVarint(b, r.Over)
		}
		if !r.Ledger { // ledgers are kept unless a plan says otherwise
			b = append(b, "drop"...)
		}
		all.Write(b)
	}
	return index.PublicID("p", "plan", p.Created.Format(time.RFC3339Nano), p.By, p.Source, hex.EncodeToString(all.Sum(nil))), nil
}

// plan adds a decision to the runs of a plan, with what users want to know of its run.
func (s *snapshot) plan(runs *[]runState, to *List[PlannedRun], number int, r *policy.Run, d *policy.Decision) error {
	x := PlannedRun{Decision: *d, Format: r.Format, Source: r.Source, Native: r.Native, Flow: transcript.Text(r.Flow), Title: transcript.Text(r.Title)}
	if !r.Started.IsZero() {
		x.Started = &r.Started
	}
	if err := to.add(&x); err != nil {
		return err
	}
	*runs = append(*runs, runState{id: r.ID, hash: stateOf(r), number: int32(number), added: int32(len(*runs)), rows: int32(min(s.current.Rows, math.MaxInt32)),
		started: x.started(), ends: x.ends(), pruned: x.Action == policy.Prune, payloads: x.Tier == policy.TierPayloads, versions: x.Tier == policy.TierVersions, thinned: r.Thinned != ""})
	return nil
}

// stateOf hashes everything that a policy may depend on, except stored sizes, which gc changes.
func stateOf(r *policy.Run) (all [16]byte) {
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

// addOriginal adds an original of the run to its hash. The order of originals does not matter.
func (r *runState) addOriginal(v *index.InventoryVersion) {
	b := appendText(appendText(make([]byte, 0, 512), v.Source), v.Path)
	b = strconv.AppendInt(b, int64(v.Number), 10)
	sum := sha256.Sum256(strconv.AppendBool(append(b, v.SHA256[:]...), v.Tombstoned))
	subtle.XORBytes(r.hash[:ownBytes], r.hash[:ownBytes], sum[:])
}

// appendText appends a length-prefixed text.
func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// protection returns what protects a run regardless of the request, or "".
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
