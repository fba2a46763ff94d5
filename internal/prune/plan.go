package prune

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
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

	number  int32    // in the stand
	said    [16]byte // hash of all that decides on it, and of those of its originals that were looked at
	rows    int64    // of the index
	thinned bool     // before
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

	id     int64 // in the index
	buried bool  // already
	ended  bool  // a run that holds it ends
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

// Make makes a plan. Errors: ErrEmptyPolicy, *EmptiedError (with the plan), ErrNotFound for a run that is not there.
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
		return plan, &EmptiedError{plan.Emptied}
	}
	return plan, nil
}

func (p *Pruner) make(ctx context.Context, c Choice, s *stand) (*Plan, error) {
	now := p.now()
	plan := &Plan{Format: PlanFormat, Created: now, By: c.By, Source: c.Source, Policy: c.Text, Costs: s.costs,
		Runs: []PlannedRun{}, Spared: []PlannedRun{}, Versions: []PlannedVersion{}, Emptied: []string{}, Left: []Left{}}
	choose := s.byHand
	if c.Policy != nil {
		choose = s.byPolicy
	}
	if err := choose(plan, c, now); err != nil {
		return nil, err
	}
	byNumber := func(a, b PlannedRun) int { return cmp.Compare(a.number, b.number) }
	slices.SortFunc(plan.Runs, byNumber)
	slices.SortFunc(plan.Spared, byNumber)
	plan.Kept = s.Len() - len(plan.Runs)
	var err error
	if plan.Versions, err = s.versions(plan.Runs); err != nil {
		return nil, err
	}
	for _, runs := range [][]PlannedRun{plan.Runs, plan.Spared} {
		for i := range runs {
			runs[i].State = hex.EncodeToString(runs[i].said[:8])
		}
	}
	plan.ID = planID(plan)
	return plan, p.count(ctx, s, plan)
}

// byPolicy decides on all runs.
func (s *stand) byPolicy(plan *Plan, c Choice, now time.Time) error {
	groups := policy.Groups{}
	texts := map[string]string{} // that many decisions have in common
	err := c.Policy.Decide(s, now, func(number int, r *policy.Run, d *policy.Decision) error {
		groups.Add(d)
		if d.Action == policy.Keep {
			return nil
		}
		d.Group = shared(texts, d.Group)
		for i := range d.Reasons {
			d.Reasons[i] = shared(texts, d.Reasons[i])
		}
		plan.Runs = append(plan.Runs, s.planned(number, r, d))
		return nil
	})
	plan.Emptied = append(plan.Emptied, groups.Emptied()...)
	return err
}

// shared is the one copy of a text, as long as there are not many.
func shared(texts map[string]string, text string) string {
	const most = 1 << 16
	if have, ok := texts[text]; ok {
		return have
	}
	if len(texts) < most {
		texts[text] = text
	}
	return text
}

// Explain decides on one run as a policy does, with all runs around it.
func (p *Pruner) Explain(ctx context.Context, pol *policy.Policy, run string) (decision *policy.Decision, of *policy.Run, err error) {
	s, err := p.survey(ctx, pol.UsesCost())
	if err != nil {
		return nil, nil, err
	}
	err = pol.Decide(s, p.now(), func(_ int, r *policy.Run, d *policy.Decision) error {
		if r.ID == run {
			x := *r // the next one takes its place
			of, decision = &x, d
		}
		return nil
	})
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, nil, err
	}
	if of == nil {
		return nil, nil, fmt.Errorf("run %s: %w", run, index.ErrNotFound)
	}
	return decision, of, nil
}

// planID is short and the same for the same plan.
func planID(p *Plan) string {
	all, b := sha256.New(), []byte(nil)
	for i := range p.Runs {
		r := &p.Runs[i]
		b = appendText(appendText(appendText(appendText(b[:0], r.RunID), string(r.Action)), string(r.Tier)), r.State)
		all.Write(b)
	}
	return index.PublicID("p", "plan", p.Created.Format(time.RFC3339Nano), p.By, p.Source, hex.EncodeToString(all.Sum(nil)))
}

// planned is a decision with what people want to know of its run.
func (s *stand) planned(number int, r *policy.Run, d *policy.Decision) PlannedRun {
	x := PlannedRun{Decision: *d, Format: r.Format, Source: r.Source, Native: r.Native, Title: r.Title, number: int32(number), said: said(r), rows: s.shown.Rows,
		thinned: r.Thinned != ""}
	if started := r.Started; !started.IsZero() {
		x.Started = &started
	}
	return x
}

// said is a hash of everything that a policy may look at, but sizes as stored, which gc changes.
func said(r *policy.Run) [16]byte {
	b := make([]byte, 0, 512)
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
	return short(b)
}

// alsoSays takes in an original of the run, in whatever order they come.
func (r *PlannedRun) alsoSays(v *index.EstateVersion) {
	b := appendText(appendText(make([]byte, 0, 512), v.Source), v.Path)
	b = strconv.AppendInt(b, int64(v.Number), 10)
	sum := short(strconv.AppendBool(append(b, v.SHA256[:]...), v.Buried))
	subtle.XORBytes(r.said[:], r.said[:], sum[:])
}

func short(b []byte) [16]byte {
	sum := sha256.Sum256(b)
	return [16]byte(sum[:16])
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
		how, ok := chosen[number]
		if !ok {
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
		to := &plan.Runs
		if d.Action == policy.Keep {
			to = &plan.Spared
		}
		*to = append(*to, s.planned(number, r, &d))
		return nil
	})
}

// How a run was chosen.
const (
	named   = 1
	follows = 2
)

// chosen are the numbers of the runs that were named, and of their children and theirs when these are to follow. Names that are found
// are taken out.
func (s *stand) chosen(c Choice, names map[string]bool) (map[int]int, error) {
	all, parents := map[int]int{}, []int32(nil)
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
			if all[number] == 0 && parent >= 0 && all[int(parent)] > 0 {
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
