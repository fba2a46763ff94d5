// Package schedule has a program run once a day, by what the machine has for that: a systemd user timer, a launchd
// agent or cron.
//
// It owns how a command line is written down for each of them, whatever stands in its paths, and which files are
// ours: those that bear our mark. It never changes or removes what is not. What files say is a pure function of the
// Job; Installer puts them where they belong.
package schedule

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// ErrUnusable says that a command line cannot be written down for a kind.
var ErrUnusable = errors.New("cannot be scheduled")

// Kind is what runs the job.
type Kind string

// The kinds.
const (
	Systemd Kind = "systemd"
	Launchd Kind = "launchd"
	Cron    Kind = "cron"
)

// Kinds are all of them.
func Kinds() []Kind { return []Kind{Systemd, Launchd, Cron} }

// Job is a command line that is run every day.
type Job struct {
	Name         string   // of letters, digits and hyphens: "txarchive-nightly"
	Command      []string // the program's absolute path, and its arguments
	Hour, Minute int      // local time
	Jitter       time.Duration
}

// File is a file that schedules a job, or a part of one.
type File struct {
	Name string // without directory; "" for the lines of a crontab
	Text string
}

const markStart = "Written by txarchive schedule install: "

// mark is the line by which we know what is ours, and when it runs.
func (j *Job) mark() string {
	return fmt.Sprintf("%severy day at %02d:%02d. `txarchive schedule remove` takes it away.", markStart, j.Hour, j.Minute)
}

var markPattern = lazyregexp.New(regexp.QuoteMeta(markStart) + `every day at (\d\d):(\d\d)\.`)

// Marked says whether a text bears our mark, and at what time of the day its job runs.
func Marked(text string) (hour, minute int, ours bool) {
	m := markPattern.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, false
	}
	hour, herr := strconv.Atoi(m[1])
	minute, merr := strconv.Atoi(m[2])
	return hour, minute, herr == nil && merr == nil
}

// Next is when a job that runs at a time of the day runs next.
func Next(now time.Time, hour, minute int) time.Time {
	next := time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, now.Location())
	if !next.After(now) {
		next = time.Date(now.Year(), now.Month(), now.Day()+1, hour, minute, 0, 0, now.Location())
	}
	return next
}

// Render writes a job down. Errors: ErrUnusable.
func (j *Job) Render(kind Kind) ([]File, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	switch kind {
	case Systemd:
		return []File{{j.Name + ".service", j.service()}, {j.Name + ".timer", j.timer()}}, nil
	case Launchd:
		text, err := j.plist()
		return []File{{j.label() + ".plist", text}}, err
	case Cron:
		text, err := j.crontab()
		return []File{{"", text}}, err
	}
	return nil, fmt.Errorf("%q schedules nothing that is known here: %w", kind, ErrUnusable)
}

var namePattern = lazyregexp.New(`^[a-z][a-z0-9-]*$`)

func (j *Job) check() error {
	switch {
	case !namePattern.MatchString(j.Name):
		return fmt.Errorf("the name %q: %w", j.Name, ErrUnusable)
	case len(j.Command) == 0 || !strings.HasPrefix(j.Command[0], "/"):
		return fmt.Errorf("the program %q has no absolute path: %w", j.Command, ErrUnusable)
	case j.Hour < 0 || j.Hour > 23 || j.Minute < 0 || j.Minute > 59:
		return fmt.Errorf("%d:%d is no time of the day: %w", j.Hour, j.Minute, ErrUnusable)
	}
	for _, arg := range j.Command {
		if strings.ContainsRune(arg, 0) || !utf8.ValidString(arg) {
			return fmt.Errorf("%q is no text: %w", arg, ErrUnusable)
		}
	}
	return nil
}
