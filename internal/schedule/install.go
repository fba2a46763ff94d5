package schedule

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/disk"
)

// ErrForeign says that a file or crontab block of that name was not written by this package.
var ErrForeign = errors.New("not written by txarchive, left unchanged")

// ErrNone says that nothing is scheduled.
var ErrNone = errors.New("nothing is scheduled")

// ErrInactive says that the scheduler did not accept a job. Everything is as it was before.
var ErrInactive = errors.New("nothing was scheduled")

// Installer schedules jobs on this machine.
type Installer struct {
	FS     *disk.FS
	Home   string
	Config string // $XDG_CONFIG_HOME; "" is the default
	// Run runs a program and returns its output.
	Run func(ctx context.Context, stdin string, name string, args ...string) (string, error)
}

// Detect returns the kind of scheduler that this machine has.
func (in *Installer) Detect(ctx context.Context) (Kind, error) {
	if runtime.GOOS == "darwin" {
		return Launchd, nil
	}
	if _, err := in.Run(ctx, "", "systemctl", "--user", "show", "--property=Version"); err == nil {
		return Systemd, nil
	}
	if _, err := in.crontab(ctx); err == nil {
		return Cron, nil
	}
	return "", fmt.Errorf("neither a systemd user instance nor cron found: %w", ErrUnusable)
}

// dir returns the directory for the files of a kind.
func (in *Installer) dir(kind Kind) string {
	if kind == Launchd {
		return filepath.Join(in.Home, "Library", "LaunchAgents")
	}
	config := in.Config
	if !filepath.IsAbs(config) {
		config = filepath.Join(in.Home, ".config")
	}
	return filepath.Join(config, "systemd", "user")
}

// Paths returns the paths of the files of a job, "" for the crontab.
func (in *Installer) Paths(j *Job, kind Kind) []string {
	switch kind {
	case Systemd:
		return []string{filepath.Join(in.dir(kind), j.Name+".service"), filepath.Join(in.dir(kind), j.Name+".timer")}
	case Launchd:
		return []string{filepath.Join(in.dir(kind), j.label()+".plist")}
	}
	return []string{""}
}

// Install schedules a job. It replaces an earlier job of that name if it is ours. Errors: ErrForeign, ErrUnusable, ErrInactive.
func (in *Installer) Install(ctx context.Context, j *Job, kind Kind) error {
	files, err := j.Render(kind)
	if err != nil {
		return err
	}
	if kind == Cron {
		return in.installCron(ctx, j, files[0].Text)
	}
	paths := in.Paths(j, kind)
	before := make([]string, len(paths))
	for i, path := range paths { // check all before writing any
		if before[i], err = in.readOwn(path); err != nil {
			return err
		}
	}
	if err := in.FS.MkdirAll(in.dir(kind)); err != nil {
		return err
	}
	for _, f := range files {
		if err := in.FS.WriteFile(filepath.Join(in.dir(kind), f.Name), []byte(f.Text)); err != nil {
			return err
		}
	}
	if err := in.activate(ctx, j, kind); err != nil {
		return errors.Join(fmt.Errorf("%w: %w", ErrInactive, err), in.restore(ctx, j, kind, before))
	}
	return nil
}

// restore brings back the files that a job had before, "" for none, since Status takes what is there for scheduled.
func (in *Installer) restore(ctx context.Context, j *Job, kind Kind, before []string) error {
	if before[len(before)-1] == "" {
		return in.Remove(context.WithoutCancel(ctx), j, kind)
	}
	for i, path := range in.Paths(j, kind) {
		if err := in.FS.WriteFile(path, []byte(before[i])); err != nil {
			return err
		}
	}
	return nil
}

// readOwn reads a file of ours. It returns "" if there is none, and ErrForeign if the file is not ours.
func (in *Installer) readOwn(path string) (string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = ErrForeign
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err == nil {
		if _, _, marked := Marked(string(text)); !marked {
			err = ErrForeign
		}
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return string(text), nil
}

func (in *Installer) activate(ctx context.Context, j *Job, kind Kind) error {
	if kind == Launchd {
		domain, path := "gui/"+strconv.Itoa(os.Getuid()), in.Paths(j, kind)[0]
		_, _ = in.Run(ctx, "", "launchctl", "bootout", domain, path) // an earlier one, if there is one
		return in.run(ctx, "launchctl", "bootstrap", domain, path)
	}
	if err := in.run(ctx, "systemctl", "--user", "daemon-reload"); err != nil {
		return err
	}
	// Restart, so that a new time takes effect at once.
	if err := in.run(ctx, "systemctl", "--user", "enable", j.Name+".timer"); err != nil {
		return err
	}
	return in.run(ctx, "systemctl", "--user", "restart", j.Name+".timer")
}

func (in *Installer) run(ctx context.Context, name string, args ...string) error {
	if _, err := in.Run(ctx, "", name, args...); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

// Remove removes a job of ours. Errors: ErrForeign, ErrNone.
func (in *Installer) Remove(ctx context.Context, j *Job, kind Kind) error {
	if kind == Cron {
		return in.removeCron(ctx, j)
	}
	var there []string
	for _, path := range in.Paths(j, kind) {
		text, err := in.readOwn(path)
		if err != nil {
			return err
		}
		if text != "" {
			there = append(there, path)
		}
	}
	if len(there) == 0 {
		return ErrNone
	}
	// Ignore errors: a job that is not loaded cannot be stopped, but its files must be removed.
	if kind == Launchd {
		_, _ = in.Run(ctx, "", "launchctl", "bootout", "gui/"+strconv.Itoa(os.Getuid()), there[0])
	} else {
		_, _ = in.Run(ctx, "", "systemctl", "--user", "disable", "--now", j.Name+".timer")
	}
	for _, path := range there {
		if err := in.FS.Remove(path); err != nil {
			return err
		}
	}
	if kind == Systemd {
		_, _ = in.Run(ctx, "", "systemctl", "--user", "daemon-reload")
	}
	return in.FS.SyncDir(in.dir(kind))
}

// Status describes a scheduled job.
type Status struct {
	Paths []string
	Next  time.Time // without jitter
}

// Status returns the status of a job of ours. Errors: ErrNone, ErrForeign.
func (in *Installer) Status(ctx context.Context, j *Job, kind Kind, now time.Time) (Status, error) {
	s := Status{Paths: in.Paths(j, kind)}
	files, err := in.Read(ctx, j, kind)
	if err != nil {
		return s, err
	}
	hour, minute, _ := Marked(files[len(files)-1].Text)
	s.Next = Next(now, hour, minute)
	return s, nil
}

// Read returns the installed files of a job of ours. Errors: ErrNone, ErrForeign.
func (in *Installer) Read(ctx context.Context, j *Job, kind Kind) (files []File, err error) {
	for _, path := range in.Paths(j, kind) {
		var text string
		if kind == Cron {
			if text, err = in.crontab(ctx); err == nil {
				_, text, _, _, err = j.splitCrontab(text)
			}
		} else {
			text, err = in.readOwn(path)
		}
		if err == nil && text == "" {
			err = ErrNone
		}
		if err != nil {
			return nil, err
		}
		files = append(files, File{path, text})
	}
	return files, nil
}

// crontab reads the user's crontab, "" if there is none.
func (in *Installer) crontab(ctx context.Context) (string, error) {
	text, err := in.Run(ctx, "", "crontab", "-l")
	if err != nil && strings.Contains(strings.ToLower(err.Error()), "no crontab") {
		return "", nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("cron not found: %w: %w", ErrUnusable, err)
	}
	if err != nil {
		return "", fmt.Errorf("read the crontab: %w", err)
	}
	return text, nil
}

func (in *Installer) installCron(ctx context.Context, j *Job, block string) error {
	text, err := in.crontab(ctx)
	if err != nil {
		return err
	}
	before, _, after, _, err := j.splitCrontab(text)
	if err != nil {
		return err
	}
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	return in.writeCrontab(ctx, before+block+after)
}

func (in *Installer) removeCron(ctx context.Context, j *Job) error {
	text, err := in.crontab(ctx)
	if err != nil {
		return err
	}
	before, _, after, found, err := j.splitCrontab(text)
	if err != nil {
		return err
	}
	if !found {
		return ErrNone
	}
	return in.writeCrontab(ctx, before+after)
}

func (in *Installer) writeCrontab(ctx context.Context, text string) error {
	if _, err := in.Run(ctx, text, "crontab", "-"); err != nil {
		return fmt.Errorf("write the crontab: %w", err)
	}
	return nil
}
