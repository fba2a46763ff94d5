package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/backup"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/nightly"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/prune"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/schedule"
	"github.com/txarchive/txarchive/internal/terminal"
)

// hintFull is what to do about a full disk.
const hintFull = "free some space and run the command again: nothing that was stored is lost"

// hintDamaged is what to do about packs that could not be read while others could.
const hintDamaged = "`txarchive verify` lists what is damaged; `txarchive verify --repair` saves the rest, and restores damaged parts from their source or, with --from, from a backup"

// hintMissing is what to do about missing packs.
const hintMissing = "`txarchive verify --repair --from BACKUP` restores it, or what its sources still have of it"

// hintMend is what to do about packs that a verify has found damaged.
const hintMend = "`txarchive ingest` repairs them if all their contents are intact elsewhere; `txarchive verify --repair` saves what is, also with --from BACKUP"

// hintUndone is what to do after a command that writes was interrupted.
const hintUndone = "completed work is kept; run the command again to continue"

// exitTable maps errors of the rooms to exit codes and hints. The first entry that matches counts.
var exitTable = []struct {
	is   error
	code int
	hint string
}{
	{archive.ErrNoArchive, failure.ExitNoArchive, "`txarchive ingest DIR` creates one; --archive DIR or TXARCHIVE_DIR names another"},
	{archive.ErrNoPacks, failure.ExitCorrupt, "is their disk mounted? if they are lost, move this directory away: `txarchive backup restore BACKUP --to DIR` makes it again; to start a new archive, ingest into another directory"},
	{archive.ErrLocked, failure.ExitLocked, "another txarchive is writing; wait for it, reading needs no lock"},
	{nightly.ErrRunning, failure.ExitLocked, "wait for it; `txarchive status` shows when it started"},
	{schedule.ErrForeign, failure.ExitRefused, "move it away, or name another: --archive, --with"},
	{schedule.ErrNone, failure.ExitNotFound, "txarchive schedule install"},
	{schedule.ErrUnusable, failure.ExitUsage, "--with systemd, launchd or cron chooses the scheduler; any other can start `txarchive nightly`"},
	{schedule.ErrInactive, failure.ExitUnexpected, "--with chooses another scheduler, such as cron; systemd accepts jobs in a login session of this user, or after `loginctl enable-linger`"},
	{backup.ErrLocked, failure.ExitLocked, "another backup is running; wait for it"},
	{backup.ErrNoBackup, failure.ExitNotFound, "is its disk mounted? `txarchive backup DIR` creates a backup in a directory"},
	{backup.ErrNotEmpty, failure.ExitRefused, "a backup needs a directory of its own, outside the archive: name one that is missing or empty"},
	{backup.ErrOther, failure.ExitRefused, "name another directory; use --moved if it is the same archive in another place"},
	{archive.ErrNotEmpty, failure.ExitRefused, "an archive needs a directory of its own: name one that is missing or empty"},
	{archive.ErrInside, failure.ExitRefused, "name a directory outside the archive"},
	{archive.ErrTooNew, failure.ExitTooNew, "install a newer txarchive"},
	{blob.ErrTooNew, failure.ExitTooNew, "install a newer txarchive"},
	{index.ErrTooNew, failure.ExitTooNew, "install a newer txarchive, or rebuild the index with this one: txarchive reindex"},
	{index.ErrTooOld, failure.ExitUnexpected, "any command that writes updates it, for example: txarchive ingest"},
	{archive.ErrNoIndex, failure.ExitCorrupt, "the originals are safe in packs/; rebuild the index: txarchive reindex"},
	{index.ErrNowhere, failure.ExitCorrupt, "`txarchive verify --repair` saves them, and rebuilds the index"},
	{index.ErrDamaged, failure.ExitCorrupt, "the originals are safe in packs/; rebuild the index: txarchive reindex"},
	{index.ErrFull, failure.ExitUnexpected, hintFull},
	{syscall.ENOSPC, failure.ExitUnexpected, hintFull},
	{syscall.EDQUOT, failure.ExitUnexpected, hintFull},
	{syscall.EFBIG, failure.ExitUnexpected, "a file would exceed the size limit of the shell (ulimit -f): raise it and run the command again"},
	{syscall.EROFS, failure.ExitUnexpected, "commands that only read work there; to write, remount it read-write, or name another archive: --archive DIR"},
	{index.ErrDisk, failure.ExitUnexpected, "is it full, over quota or failing? check the system log (dmesg), then run the command again"},
	{blob.ErrMissing, failure.ExitCorrupt, hintMissing},
	{blob.ErrCorrupt, failure.ExitCorrupt, "`txarchive verify` lists what is damaged and which runs are affected"},
	{index.ErrAmbiguous, failure.ExitUsage, "use a longer prefix of the id"},
	{index.ErrLimit, failure.ExitPartial, "narrow the query, or raise the limit: see --help"},
	{prune.ErrEmptyPolicy, failure.ExitRefused, "it keeps everything; --allow-empty makes the plan anyway"},
	{prune.ErrGone, failure.ExitRefused, "`txarchive ingest --pruned DIR` archives it again if its source still exists"},
	{prune.ErrNothing, failure.ExitNotFound, "`txarchive sql 'SELECT run_id, format FROM v_runs WHERE pruned'` lists what was pruned"},
	{index.ErrNotFound, failure.ExitNotFound, "`txarchive search WORDS` and `txarchive sql 'SELECT run_id, title FROM v_runs'` show ids"},
	{blob.ErrNotFound, failure.ExitNotFound, "`txarchive verify` lists what is missing"},
	{archive.ErrDirectory, failure.ExitRefused, "move the directory away, or restore to another one: --to DIR"},
	{fs.ErrExist, failure.ExitRefused, "nothing was overwritten; --overwrite replaces existing files"},
	{syscall.ENOTDIR, failure.ExitRefused, "the path or a part of it is a file, not a directory: name another path"},
	{fs.ErrNotExist, failure.ExitNotFound, "check the path"},
	{fs.ErrPermission, failure.ExitUnexpected, "check owner and mode of the path"},
}

// explain returns the exit code of an error and the hint about what to do.
func explain(ctx context.Context, err error) (code int, hint string) {
	if err == nil {
		return failure.ExitFine, ""
	}
	var f *failure.Error
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		return failure.ExitInterrupted, ""
	}
	var syntax *query.SyntaxError
	var unsupported *index.UnsupportedError
	var statement *index.SQLError
	var emptied *prune.EmptiedError
	var changed *prune.ChangedError
	switch {
	case errors.As(err, &f):
		return f.Code, f.Hint
	case errors.As(err, &syntax):
		return failure.ExitUsage, syntax.Hint
	case errors.As(err, &unsupported) && unsupported.Hint != "":
		return failure.ExitUsage, unsupported.Hint
	case errors.As(err, &unsupported):
		return failure.ExitUsage, "docs/query-language.md describes the query language"
	case errors.As(err, &emptied):
		return failure.ExitRefused, "`keep_last` in a rule keeps the newest of each group; `txarchive prune --allow-empty` makes the plan anyway"
	case errors.As(err, &changed):
		return failure.ExitRefused, "nothing was done; make a new plan and review it"
	case errors.As(err, &statement):
		return failure.ExitUsage, "`txarchive sql --help` has examples, docs/sql.md lists every view and column"
	case errors.Is(err, context.DeadlineExceeded):
		return failure.ExitPartial, "narrow the query, or allow more time"
	}
	for _, line := range exitTable {
		if errors.Is(err, line.is) {
			return line.code, line.hint
		}
	}
	return failure.ExitUnexpected, ""
}

// exit prints an error and returns its exit code. It is the only place where errors become messages.
func (a *app) exit(ctx context.Context, err error) int {
	code, hint := explain(ctx, err)
	if code == failure.ExitFine {
		return code
	}
	if code == failure.ExitInterrupted {
		hint = a.interruptHint
	}
	hint = a.completeCommands(hint)
	text := message(err, code)
	if a.JSON {
		body := map[string]any{"code": code, "message": text, "hint": nil}
		if hint != "" {
			body["hint"] = hint
		}
		fmt.Fprintln(a.Err, printer.Encode(map[string]any{"error": body}))
		return code
	}
	a.printError(text, hint)
	return code
}

// printError prints an error, and the hint about what to do, which may be "".
func (a *app) printError(text, hint string) {
	a.Message("txarchive: ", terminal.OneLine(text))
	if hint != "" {
		a.Message("hint: ", terminal.OneLine(hint))
	}
}

// quotedCommand matches a command line of txarchive in a message, up to its first words. The first group is that of a usage line, the
// second is the command, and the third is not empty if it is about help.
var quotedCommand = lazyregexp.New(`(usage: )?\btxarchive ([a-z]+\b|%s)((?: [a-z]+)? --help)?`)

// completeCommands adds --archive to the command lines in a message where that flag names another archive than would be used without it.
func (a *app) completeCommands(text string) string { return a.addArchive(text, a.otherArchive()) }

// completeNote is completeCommands for the format of a note.
func (a *app) completeNote(format string) string {
	return a.addArchive(format, strings.ReplaceAll(a.otherArchive(), "%", "%%"))
}

// addArchive adds --archive with a directory, as a shell takes it, to the command lines in a text; not for "".
func (a *app) addArchive(text, dir string) string {
	if dir == "" {
		return text
	}
	return quotedCommand.ReplaceAllStringFunc(text, func(match string) string {
		m := quotedCommand.FindStringSubmatch(match)
		if m[1] != "" || m[3] != "" || !slices.Contains(a.archiveCommands, m[2]) && m[2] != "%s" {
			return match
		}
		return strings.Replace(match, "txarchive ", "txarchive --archive "+dir+" ", 1)
	})
}

// otherArchive returns the value of --archive, as a shell takes it; "" if the same archive would be used without it.
func (a *app) otherArchive() string {
	if a.archive == "" {
		return ""
	}
	without := *a
	without.archive = ""
	dir, err := a.dir()
	usual, failed := without.dir()
	if err == nil && failed == nil && dir == usual {
		return ""
	}
	return terminal.ShellPath(a.archive)
}

func message(err error, code int) string {
	var syntax *query.SyntaxError
	switch {
	case code == failure.ExitInterrupted:
		return "interrupted"
	case errors.As(err, &syntax): // without its hint, which is printed separately
		return fmt.Sprintf("query: column %d: %s", syntax.Column, syntax.Message)
	}
	return err.Error()
}
