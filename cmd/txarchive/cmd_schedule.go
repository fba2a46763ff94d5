package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/backup"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/schedule"
	"github.com/txarchive/txarchive/internal/terminal"
)

// scheduleOptions say when the nightly job runs, and what starts it.
type scheduleOptions struct {
	at     string
	jitter time.Duration
	with   string
	dryRun bool
}

// nightlyNames are the flags of nightly in the order of the job's command line.
var nightlyNames = []string{"backup", "keep-last", "keep-within", "policy", "verify-days", "grace", "max-time", "max-bytes", "wait", "skip"}

func newScheduleCommand(a *app) *cobra.Command {
	var o scheduleOptions
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "Schedule the nightly job",
		Long: "Schedule `txarchive nightly` to run every night. It is started by a systemd timer of this user, a launchd agent, or\n" +
			"lines in the crontab: whichever the machine has, or --with selects. If the machine was asleep at that time, the job\n" +
			"runs later. Files and crontab lines that txarchive did not write are never changed or removed. docs/nightly.md has the\n" +
			"details." +
			exitCodes("4 nothing is scheduled", "8 something else is in the way", "10 no archive"),
		Example: "  txarchive schedule install --backup /mnt/backup/transcripts --keep-last 14\n  txarchive schedule install --at 04:30 --with cron --dry-run\n" +
			"  txarchive schedule status\n  txarchive schedule remove",
	}
	cmd.PersistentFlags().StringVar(&o.with, "with", "", "use `SCHEDULER`: systemd, launchd or cron (default what the machine has)")
	completeFlags(cmd, map[string]cobra.CompletionFunc{"with": fixed("systemd", "launchd", "cron")})
	cmd.AddCommand(newScheduleInstallCommand(a, &o),
		&cobra.Command{Use: "show", Short: "Print the files or crontab lines of the job", Example: "  txarchive schedule show", Args: argCount(0, 0),
			RunE: func(cmd *cobra.Command, _ []string) error { return runScheduleShow(cmd.Context(), a, &o) }},
		&cobra.Command{Use: "status", Short: "Show when the job runs next, and how the last one went", Example: "  txarchive schedule status", Args: argCount(0, 0),
			RunE: func(cmd *cobra.Command, _ []string) error { return runScheduleStatus(cmd.Context(), a, &o) }},
		&cobra.Command{Use: "remove", Short: "Remove the scheduled job", Example: "  txarchive schedule remove", Args: argCount(0, 0),
			RunE: func(cmd *cobra.Command, _ []string) error { return runScheduleRemove(cmd.Context(), a, &o) }})
	return cmd
}

func newScheduleInstallCommand(a *app, o *scheduleOptions) *cobra.Command {
	var n nightlyOptions
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Schedule the nightly job; flags are passed to `nightly`",
		Example: "  txarchive schedule install\n  txarchive schedule install --at 04:30 --backup /mnt/backup/transcripts --keep-within 60d\n" +
			"  txarchive schedule install --with systemd --dry-run",
		Args: argCount(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := n.check(); err != nil {
				return err
			}
			return runScheduleInstall(cmd.Context(), a, cmd, o, &n)
		},
	}
	nightlyFlags(a, cmd, &n)
	o.jitter = 30 * time.Minute
	cmd.Flags().StringVar(&o.at, "at", "03:17", "start at this `TIME` of day")
	cmd.Flags().Var((*ageValue)(&o.jitter), "jitter", "start up to this `TIME` later, at random (systemd only)")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only print what would be written")
	return cmd
}

// scheduledJob returns the job of this archive. The job of the default archive has the plain name.
func (a *app) scheduledJob(command []string, o *scheduleOptions) (*schedule.Job, error) {
	at, err := time.Parse("15:04", o.at)
	if err != nil && o.at != "" {
		return nil, failure.Usage(fmt.Sprintf("%q is not a time of day", o.at), "--at 03:17")
	}
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	plain := *a
	plain.archive, plain.Getenv = "", func(key string) string {
		if key == "TXARCHIVE_DIR" {
			return ""
		}
		return a.Getenv(key)
	}
	name := "txarchive-nightly"
	if usual, err := plain.dir(); err != nil || usual != dir {
		sum := sha256.Sum256([]byte(dir))
		name += "-" + hex.EncodeToString(sum[:4])
	}
	return &schedule.Job{Name: name, Command: command, Hour: at.Hour(), Minute: at.Minute(), Jitter: o.jitter}, nil
}

// nightlyCommand returns the command line of the job: this program, this archive, and the flags that were given.
func (a *app) nightlyCommand(cmd *cobra.Command, n *nightlyOptions) ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	command := []string{program, "nightly", "--archive=" + dir}
	for _, name := range nightlyNames {
		if !cmd.Flags().Changed(name) {
			continue
		}
		value := cmd.Flags().Lookup(name).Value.String()
		switch name {
		case "backup", "policy": // made absolute: the job runs in another directory
			if value, err = filepath.Abs(value); err != nil {
				return nil, err
			}
		case "skip":
			value = strings.Join(n.skip, ",")
		}
		command = append(command, "--"+name+"="+value)
	}
	return command, nil
}

func (a *app) installer() *schedule.Installer {
	home := a.Getenv("HOME")
	return &schedule.Installer{FS: a.fs(), Home: home, Config: a.Getenv("XDG_CONFIG_HOME"), Run: runProgram}
}

// runProgram runs a program of the system. Its error contains what the program wrote to standard error.
func runProgram(ctx context.Context, stdin, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	if text := terminal.OneLine(stderr.String()); err != nil && text != "" {
		err = fmt.Errorf("%w: %s", err, text)
	}
	return out.String(), err
}

// kind returns the scheduler: the one of --with, else the one that has the job already, else the one that the machine has.
func (o *scheduleOptions) kind(ctx context.Context, in *schedule.Installer, j *schedule.Job, now time.Time) (schedule.Kind, error) {
	for _, k := range schedule.Kinds() {
		if o.with == string(k) {
			return k, nil
		}
	}
	if o.with != "" {
		return "", failure.Usage(fmt.Sprintf("unknown scheduler %q", o.with), "--with systemd, launchd or cron")
	}
	for _, k := range schedule.Kinds() {
		if _, err := in.Status(ctx, j, k, now); err == nil {
			return k, nil
		}
	}
	return in.Detect(ctx)
}

// installed returns the scheduler that may have the job. On a machine without one, nothing is scheduled.
func (o *scheduleOptions) installed(ctx context.Context, in *schedule.Installer, j *schedule.Job, now time.Time) (schedule.Kind, error) {
	kind, err := o.kind(ctx, in, j, now)
	if errors.Is(err, schedule.ErrUnusable) {
		err = schedule.ErrNone
	}
	return kind, err
}

func runScheduleInstall(ctx context.Context, a *app, cmd *cobra.Command, o *scheduleOptions, n *nightlyOptions) error {
	store, err := a.openPacks(ctx)
	if err != nil {
		return err
	}
	if err := store.Close(); err != nil {
		return err
	}
	if n.backup != "" {
		if _, err := backup.Open(n.backup, a.backupOptions()); err != nil {
			return err
		}
	}
	if n.policy != "" { // report a wrong policy now rather than at night
		if _, _, err := a.readPolicy(n.policy); err != nil {
			return err
		}
	}
	command, err := a.nightlyCommand(cmd, n)
	if err != nil {
		return err
	}
	j, err := a.scheduledJob(command, o)
	if err != nil {
		return err
	}
	in := a.installer()
	kind, err := o.kind(ctx, in, j, a.Now())
	if err != nil {
		return err
	}
	if o.dryRun {
		files, err := j.Render(kind)
		if err != nil {
			return err
		}
		return a.printUnits(in.Paths(j, kind), files)
	}
	if err := in.Install(ctx, j, kind); err != nil {
		return err
	}
	if kind == schedule.Systemd {
		a.Note("It runs only while you are logged in; `loginctl enable-linger` makes it run always.")
	}
	return runScheduleStatus(ctx, a, o)
}

// printUnits prints files with their paths; "" is the crontab.
func (a *app) printUnits(paths []string, files []schedule.File) error {
	for i, f := range files {
		where := "crontab"
		if paths[i] != "" {
			where = paths[i]
		}
		if a.JSON {
			if err := a.PrintJSON(map[string]any{"path": where, "text": f.Text}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(a.Out, "==> %s <==\n%s", terminal.OneLine(where), terminal.Clean(f.Text))
	}
	return nil
}
