// Package nightly runs the steps of the unattended job one after the other, remembers what became of them, and
// chooses what is to be read again tonight.
//
// What the steps do it is told. Its promises: a step that fails, or panics, does not keep the next from being run;
// what became of each is written beside the archive before the next begins, so that a job that was killed can be
// told from one that never ran; two jobs at once do not run. Its state may be lost at any time.
package nightly

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/txarchive/txarchive/internal/disk"
)

// ErrRunning says that another nightly job is at work on the archive. It wraps a *disk.LockedError.
var ErrRunning = errors.New("another nightly job is running")

// Outcomes of a step.
const (
	OK       = "ok"
	Problems = "problems" // done, but for what its problems name
	Failed   = "failed"
	Skipped  = "skipped" // there was nothing to do, or nobody asked for it
	Stopped  = "stopped" // ran out of its budget; the next night goes on
)

// Step is one part of the job.
type Step struct {
	Name string
	// Run does it. It may change what it wants of the state, which is kept whatever it returns.
	Run func(context.Context, *State) (Result, error)
}

// Result is what a step did.
type Result struct {
	Outcome  string   // "" is OK, or Problems when there are some
	Summary  string   // one line for people
	Problems []string // what was not done, or is not as it should be
	Cause    error    // what the problems are of, for the exit code; nil is nothing in particular
	Detail   any      // figures, as the step's own command prints them; nil for none
}

// StepReport is a Result with what went wrong.
type StepReport struct {
	Step     string   `json:"step"`
	Outcome  string   `json:"outcome"`
	Summary  string   `json:"summary"`
	Problems []string `json:"problems"`
	Error    *string  `json:"error"`
	Elapsed  int64    `json:"elapsed_us"`
	Detail   any      `json:"detail"`
	Err      error    `json:"-"`
}

// Bad says whether something was not done or is not as it should be.
func (s *StepReport) Bad() bool { return s.Outcome == Problems || s.Outcome == Failed }

// Report is what a job did.
type Report struct {
	Started  time.Time    `json:"started"`
	Finished time.Time    `json:"finished"`
	OK       bool         `json:"ok"`
	Steps    []StepReport `json:"steps"`
}

// Job is a nightly job.
type Job struct {
	Dir   string // of the archive: the state is kept there
	Steps []Step
	FS    *disk.FS
	Now   func() time.Time
	// Told gets each step when it is done. It may be nil.
	Told func(StepReport)
}

const lockFile = "nightly.lock"

// Run runs the steps. What they did and failed to do is in the report; the error is ErrRunning, that of the context,
// or about the state, which does not keep any step from running.
func (j *Job) Run(ctx context.Context) (*Report, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	holder := disk.Holder{PID: os.Getpid(), Host: host, Command: "nightly", Since: j.Now().UTC()}
	lock, err := j.FS.Lock(filepath.Join(j.Dir, lockFile), holder)
	if _, held := errors.AsType[*disk.LockedError](err); held {
		return nil, fmt.Errorf("%w: %w", ErrRunning, err)
	}
	unwritten := err // a disk that is full lets nobody lock; the steps say what they can do nevertheless
	state, err := Load(j.Dir)
	if err != nil {
		state = &State{}
	}
	state.begin(j.Now())
	unwritten = errors.Join(unwritten, state.save(j.FS, j.Dir))
	report := &Report{Started: state.Running.Started, OK: true, Steps: []StepReport{}}
	for _, step := range j.Steps {
		if ctx.Err() != nil {
			break
		}
		r := j.step(ctx, step, state)
		report.OK = report.OK && !r.Bad()
		report.Steps = append(report.Steps, r)
		state.Running.Report = *report
		if err := state.save(j.FS, j.Dir); err != nil {
			unwritten = errors.Join(unwritten, err)
		}
		if j.Told != nil {
			j.Told(r)
		}
	}
	report.Finished = j.Now().UTC()
	report.OK = report.OK && ctx.Err() == nil
	if ctx.Err() == nil {
		state.end(report)
		unwritten = state.save(j.FS, j.Dir) // what could not be written before matters no more when this is
	}
	if lock != nil {
		unwritten = errors.Join(unwritten, lock.Release())
	}
	if ctx.Err() != nil {
		return report, context.Cause(ctx)
	}
	if unwritten != nil {
		return report, fmt.Errorf("remember what the nightly job did: %w", unwritten)
	}
	return report, nil
}

func (j *Job) step(ctx context.Context, step Step, state *State) StepReport {
	began := j.Now()
	result, err := guarded(ctx, step, state)
	r := StepReport{Step: step.Name, Outcome: result.Outcome, Summary: result.Summary, Problems: result.Problems, Detail: result.Detail, Err: result.Cause}
	if r.Problems == nil {
		r.Problems = []string{}
	}
	switch {
	case err != nil:
		text := err.Error()
		r.Outcome, r.Error, r.Err = Failed, &text, err
	case len(r.Problems) > 0:
		r.Outcome = Problems
	case r.Outcome == "":
		r.Outcome = OK
	}
	r.Elapsed = max(j.Now().Sub(began), 0).Microseconds()
	return r
}

// guarded turns a panic of a step into its error.
func guarded(ctx context.Context, step Step, state *State) (r Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("step %s panicked: %v\n%s", step.Name, p, debug.Stack())
		}
	}()
	return step.Run(ctx, state)
}
