package nightly

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/txarchive/txarchive/internal/disk"
)

const stateFile = "nightly.json"

// State is what is remembered from night to night. It may be lost: then all that was read again counts as unread.
type State struct {
	Running *Running `json:"running"` // the job that is at work, or was killed
	Last    *Report  `json:"last"`    // the last one that came to its end
	// New are the problems of the last job that the one before did not have.
	New     []string `json:"new_problems"`
	History []Night  `json:"history"` // the last jobs, the oldest first

	Since      time.Time            `json:"since"`       // the first night
	VerifyDays int                  `json:"verify_days"` // within which every byte is read again; 0 is not known
	Earned     int64                `json:"earned"`      // bytes that may be read again without being due: see Share
	EarnedAt   time.Time            `json:"earned_at"`
	Verified   map[string]time.Time `json:"verified"`   // packs, when they were last read as a whole
	Damaged    map[string]string    `json:"damaged"`    // packs that were not as stored when they were last read
	Collected  string               `json:"collected"`  // Fingerprint of the packs when gc last had nothing to do
	Backup     *Backup              `json:"backup"`     // the last that was tried; null when none is asked for
	PackBytes  int64                `json:"pack_bytes"` // of all packs, as the job that runs has seen them; 0 when it has not
}

// Running is a job that has not come to its end.
type Running struct {
	Started time.Time `json:"started"`
	PID     int       `json:"pid"`
	Report  Report    `json:"report"` // so far
}

// Night is what is kept of a job for long.
type Night struct {
	Started  time.Time  `json:"started"`
	Finished *time.Time `json:"finished"` // null: killed
	OK       bool       `json:"ok"`
	Failed   []string   `json:"failed"` // steps that failed or had problems
	// PackBytes is what all packs took then, 0 when nobody looked.
	PackBytes int64 `json:"pack_bytes"`
}

// Backup is what is known of backups.
type Backup struct {
	Dir  string     `json:"dir"`
	Last *time.Time `json:"last"` // that went through
	OK   bool       `json:"ok"`   // the last one that was tried went through
}

const (
	nights       = 90   // that are remembered
	problemsKept = 1000 // of one step
)

// Load reads the state of an archive. None gives an empty one; a file that cannot be read gives an error.
func Load(dir string) (*State, error) {
	s := &State{}
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err != nil {
		return nil, fmt.Errorf("read what the nightly jobs did: %w", err)
	}
	return s, nil
}

func (s *State) save(fsys *disk.FS, dir string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return fsys.WriteFile(filepath.Join(dir, stateFile), append(text, '\n'))
}

// Update changes what is remembered of an archive, unless a job is at work: that remembers what it finds itself.
func Update(fsys *disk.FS, dir string, change func(*State)) error {
	s, err := Load(dir)
	if err != nil || s.Running != nil && !s.Killed() {
		return err
	}
	s.prepare()
	change(s)
	return s.save(fsys, dir)
}

func (s *State) prepare() {
	if s.Verified == nil {
		s.Verified = map[string]time.Time{}
	}
	if s.Damaged == nil {
		s.Damaged = map[string]string{}
	}
}

// begin says that a job runs. One that was said to run and is not there any more was killed.
func (s *State) begin(now time.Time) {
	if s.Running != nil {
		s.remember(Night{Started: s.Running.Started, Failed: []string{}})
	}
	now = now.UTC()
	if s.Since.IsZero() || s.Since.After(now) {
		s.Since = now
	}
	s.PackBytes = 0
	s.Running = &Running{Started: now, PID: os.Getpid(), Report: Report{Started: now, Finished: now, Steps: []StepReport{}}}
	s.prepare()
}

func (s *State) end(r *Report) {
	known := map[string]bool{}
	if s.Last != nil {
		for _, step := range s.Last.Steps {
			for _, p := range step.all() {
				known[step.Step+": "+p] = true
			}
		}
	}
	s.New = []string{}
	n := Night{Started: r.Started, Finished: &r.Finished, OK: r.OK, Failed: []string{}, PackBytes: s.PackBytes}
	last := *r
	last.Steps = slices.Clone(r.Steps)
	for i, step := range last.Steps {
		if step.Bad() {
			n.Failed = append(n.Failed, step.Step)
		}
		for _, p := range step.all() {
			if p = step.Step + ": " + p; !known[p] {
				s.New = append(s.New, p)
			}
		}
		last.Steps[i].Problems = step.Problems[:min(len(step.Problems), problemsKept)]
	}
	s.remember(n)
	s.Last, s.Running = &last, nil
}

// all is the problems of a step, its error among them.
func (s *StepReport) all() []string {
	if s.Error == nil {
		return s.Problems
	}
	return append(slices.Clone(s.Problems), *s.Error)
}

func (s *State) remember(n Night) {
	s.History = append(s.History, n)
	s.History = s.History[max(0, len(s.History)-nights):]
}

// Killed says that the job that is said to run is not at work any more, as far as this machine can tell.
func (s *State) Killed() bool {
	if s.Running == nil || runtime.GOOS == "windows" {
		return false
	}
	p, err := os.FindProcess(s.Running.PID)
	if err == nil {
		err = p.Signal(syscall.Signal(0))
	}
	return err != nil && !errors.Is(err, fs.ErrPermission)
}
