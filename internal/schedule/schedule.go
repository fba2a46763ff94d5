// Package schedule installs a job that runs once a day, with the scheduler of the machine: a systemd user timer, a launchd
// agent or cron.
//
// It quotes a command line for each of them, whatever characters its paths contain, and recognises the files that
// it wrote by a mark. It never changes or removes others. The content of the files is a pure function of the
// Job; Installer writes and activates them.
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

// ErrUnusable says that a job cannot be scheduled, for example because the scheduler cannot express its command line.
var ErrUnusable = errors.New("cannot be scheduled")

// Kind is a scheduler.
type Kind string

// The kinds.
const (
	Systemd Kind = "systemd"
	Launchd Kind = "launchd"
	Cron    Kind = "cron"
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Systemd, Launchd, Cron} }

// Job is a command line to run every day.
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

// mark returns the line by which Marked recognises our files and the time of their job.
func (j *Job) mark() string {
	return fmt.Sprintf("%severy day at %02d:%02d. `txarchive schedule remove` removes it.", markStart, j.Hour, j.Minute)
}

var markPattern = lazyregexp.New(regexp.QuoteMeta(markStart) + `every day at (\d\d):(\d\d)\.`)

// Marked reports whether a text contains our mark, and at what time of the day its job runs.
func Marked(text string) (hour, minute int, ours bool) {
	m := markPattern.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, false
	}
	hour, herr := strconv.Atoi(m[1])
	minute, merr := strconv.Atoi(m[2])
	return hour, minute, herr == nil && merr == nil
}

// Next returns when a job that runs daily at hour:minute runs next.
func Next(now time.Time, hour, minute int) time.Time {
	next := time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, now.Location())
	if !next.After(now) {
		next = time.Date(now.Year(), now.Month(), now.Day()+1, hour, minute, 0, 0, now.Location())
	}
	return next
}

// Render returns the files that schedule a job with a kind of scheduler. Errors: ErrUnusable.
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
	return nil, fmt.Errorf("unknown scheduler %q: %w", kind, ErrUnusable)
}

var namePattern = lazyregexp.New(`^[a-z][a-z0-9-]*$`)

func (j *Job) check() error {
	switch {
	case !namePattern.MatchString(j.Name):
		return fmt.Errorf("the name %q: %w", j.Name, ErrUnusable)
	case len(j.Command) == 0 || !strings.HasPrefix(j.Command[0], "/"):
		return fmt.Errorf("the program %q has no absolute path: %w", j.Command, ErrUnusable)
	case j.Hour < 0 || j.Hour > 23 || j.Minute < 0 || j.Minute > 59:
		return fmt.Errorf("%d:%d is not a time of day: %w", j.Hour, j.Minute, ErrUnusable)
	}
	for _, arg := range j.Command {
		if strings.ContainsRune(arg, 0) || !utf8.ValidString(arg) {
			return fmt.Errorf("%q is not valid text: %w", arg, ErrUnusable)
		}
	}
	return nil
}
