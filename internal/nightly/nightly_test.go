package nightly

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/seedtest"
)

var start = time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)

func job(t *testing.T, steps ...Step) *Job {
	return &Job{Dir: t.TempDir(), Steps: steps, FS: &disk.FS{}, Now: func() time.Time { return start }}
}

func step(name string, r Result, err error) Step {
	return Step{Name: name, Run: func(context.Context, *State) (Result, error) { return r, err }}
}

func outcomes(r *Report) string {
	var all []string
	for _, s := range r.Steps {
		all = append(all, s.Step+" "+s.Outcome)
	}
	return strings.Join(all, ", ")
}

// TestSteps: no step prevents the next from running, whatever it does.
func TestSteps(t *testing.T) {
	j := job(t, step("one", Result{}, nil), step("two", Result{}, errors.New("broken")),
		Step{Name: "three", Run: func(context.Context, *State) (Result, error) { panic("oh") }},
		step("four", Result{Problems: []string{"a file"}}, nil), step("five", Result{Outcome: Skipped}, nil), step("six", Result{Outcome: Stopped}, nil))
	r, err := j.Run(t.Context())
	if err != nil || r.OK || outcomes(r) != "one ok, two failed, three failed, four problems, five skipped, six stopped" {
		t.Fatalf("%s, %v", outcomes(r), err)
	}
	s, err := Load(j.Dir)
	if err != nil || s.Running != nil || s.Last == nil || len(s.New) != 3 || !slices.Equal(s.History[0].Failed, []string{"two", "three", "four"}) {
		t.Fatalf("%+v, %v", s, err)
	}
	j.Steps[3] = step("four", Result{Problems: []string{"a file", "another"}}, nil)
	j.Steps[2] = step("three", Result{}, nil)
	if _, err := j.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, _ = Load(j.Dir); !slices.Equal(s.New, []string{"four: another"}) || len(s.History) != 2 {
		t.Errorf("new: %q", s.New)
	}
}

// TestTwice: two jobs do not run at once, and a job that was killed is recorded as such.
func TestTwice(t *testing.T) {
	var j *Job
	j = job(t, Step{Name: "again", Run: func(ctx context.Context, _ *State) (Result, error) {
		_, err := j.Run(ctx)
		if !errors.Is(err, ErrRunning) {
			t.Errorf("a second job: %v", err)
		}
		s, err := Load(j.Dir)
		if err != nil || s.Running == nil || s.Killed() {
			t.Errorf("while it runs: %+v, %v", s.Running, err)
		}
		return Result{}, nil
	}})
	if _, err := j.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	j.Steps = []Step{{Name: "stop", Run: func(context.Context, *State) (Result, error) { cancel(); return Result{}, nil }}, step("never", Result{}, nil)}
	if r, err := j.Run(ctx); !errors.Is(err, context.Canceled) || len(r.Steps) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	s, err := Load(j.Dir)
	if err != nil || s.Running == nil || len(s.Running.Report.Steps) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	s.Running.PID = 1 << 30
	if !s.Killed() {
		t.Error("a process that never was is at work")
	}
	j.Steps = nil
	if _, err := j.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, _ = Load(j.Dir); len(s.History) != 3 || s.History[1].Finished != nil || s.History[2].Finished == nil {
		t.Errorf("%+v", s.History)
	}
}

// TestUnwritable: the steps run even if the state cannot be saved, and the error says so.
func TestUnwritable(t *testing.T) {
	full := errors.New("no space left")
	for n := range 40 {
		left, ran := n, 0
		j := job(t, Step{Name: "work", Run: func(context.Context, *State) (Result, error) { ran++; return Result{}, nil }})
		j.FS.Fault = func(string, string) error {
			if left--; left < 0 {
				return full
			}
			return nil
		}
		r, err := j.Run(t.Context())
		if ran != 1 || !r.OK {
			t.Fatalf("with fault %d the step ran %d times", n, ran)
		}
		if err == nil {
			return
		}
		if !errors.Is(err, full) {
			t.Fatal(err)
		}
	}
	t.Error("it never went through")
}

func TestLostState(t *testing.T) {
	j := job(t, step("one", Result{}, nil))
	if err := os.WriteFile(filepath.Join(j.Dir, stateFile), []byte("{torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(j.Dir); err == nil {
		t.Error("a torn state was read")
	}
	if r, err := j.Run(t.Context()); err != nil || !r.OK {
		t.Fatalf("%+v, %v", r, err)
	}
}

// TestSelectPacks: whatever is added, and at whatever hour of the night it runs, every byte is read again within the days,
// and no night reads much more than its part.
func TestSelectPacks(t *testing.T) {
	rnd := seedtest.Rand(t)
	const days = 10
	s, now := &State{}, start
	var packs []Pack
	add := func(at time.Time) {
		packs = append(packs, Pack{Name: fmt.Sprint("p", len(packs)), Size: 1 + rnd.Int64N(100), Created: at})
	}
	for range 200 { // that were there before the first night
		add(start.AddDate(-1, 0, 0))
	}
	read := map[string]time.Time{}
	for night := range 60 {
		s.begin(now)
		total, sum := int64(0), int64(0)
		for _, p := range packs {
			total += p.Size
		}
		for _, p := range s.SelectPacks(packs, now, SelectOptions{Days: days}) {
			sum += p.Size
			read[p.Name] = now
			s.RecordVerify(p, now, "")
		}
		if sum > total/3 {
			t.Errorf("night %d read %d of %d bytes", night, sum, total)
		}
		for _, p := range packs {
			last := read[p.Name]
			if last.IsZero() {
				last = p.Created
			}
			if night >= days && now.Sub(last) > days*24*time.Hour {
				t.Errorf("night %d: %s was not read since %v", night, p.Name, last)
			}
		}
		for range rnd.IntN(8) {
			add(now)
		}
		now = start.AddDate(0, 0, night+1).Add(time.Duration(rnd.IntN(120)) * time.Minute)
	}
	if c := s.Coverage(packs, now, days); c.Covered != c.Bytes || c.Damaged != 0 {
		t.Errorf("%+v", c)
	}
}

// TestSelectOneLargePack: a single large pack is read once within the days, not every night; a second job reads nothing.
func TestSelectOneLargePack(t *testing.T) {
	s, reads := &State{}, 0
	pack := Pack{"only", 1 << 30, start}
	for night := range 90 {
		now := start.AddDate(0, 0, night)
		s.begin(now)
		for range 2 {
			for _, p := range s.SelectPacks([]Pack{pack}, now, SelectOptions{Days: 30}) {
				reads++
				s.RecordVerify(p, now, "")
			}
			now = now.Add(time.Hour)
		}
	}
	if reads < 3 || reads > 4 {
		t.Errorf("read %d times in 90 nights", reads)
	}
}

func TestSelectDamaged(t *testing.T) {
	s := &State{}
	s.begin(start)
	packs := []Pack{{"a", 10, start}, {"b", 10, start}, {"c", 10, start}}
	s.RecordVerify(packs[0], start, "")
	s.RecordVerify(packs[1], start, "flipped")
	s.RecordVerify(packs[2], start.AddDate(1, 0, 0), "") // a clock that was wrong
	names := func(o SelectOptions) (all string) {
		for _, p := range s.SelectPacks(packs, start.Add(time.Hour), o) {
			all += p.Name
		}
		return all
	}
	if got := names(SelectOptions{Days: 30}); got != "bc" {
		t.Errorf("read %q", got)
	}
	if got := names(SelectOptions{Days: 1}); got != "bca" {
		t.Errorf("read %q of all", got)
	}
	if got := names(SelectOptions{Days: 1, Bytes: 15}); got != "b" {
		t.Errorf("read %q within 15 bytes", got)
	}
	s.RecordVerify(packs[1], start, "")
	s.Forget(packs[:2])
	if c := s.Coverage(packs, start.Add(time.Hour), 30); c.Damaged != 0 || c.Missing != 1 || c.Covered != 30 {
		t.Errorf("%+v", c)
	}
}
