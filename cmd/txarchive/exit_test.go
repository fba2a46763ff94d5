package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/query"
)

// inside runs a command line in this process, against an archive.
func inside(ctx context.Context, dir, stdin string, line ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	a := &app{Printer: printer.Printer{Out: &out, Err: &errs, Now: time.Now, Getenv: func(key string) string {
		return map[string]string{"TXARCHIVE_DIR": dir, "HOME": "/nonexistent"}[key]
	}}, in: strings.NewReader(stdin), log: slog.New(slog.DiscardHandler)}
	code = execute(ctx, a, line)
	return code, out.String(), errs.String()
}

const runs = "../../testdata/runs"

// filled is an archive with the AWF example in it.
func filled(t *testing.T) string {
	t.Helper()
	fill.once.Do(func() {
		root, err := os.MkdirTemp("", "txarchive-filled")
		must(t, err)
		fill.root = root
		call(t, filepath.Join(root, "archive"), "ingest", runs+"/awf")
	})
	return copyArchive(t, filepath.Join(fill.root, "archive"))
}

// fill is the archive of which filled gives copies; TestMain removes it.
var fill struct {
	once sync.Once
	root string
}

// exitCases are command lines with the archive that they meet: one that is filled, none, or a directory with other
// files. A * is a space inside of an argument.
var exitCases = []struct {
	archive string
	line    string
	code    int
	says    string // on standard error
}{
	{"none", "", 0, ""},
	{"none", "version", 0, ""},
	{"none", "--help", 0, ""},
	{"full", "stats", 0, ""},
	{"full", "search nothinglikethis", 0, "Nothing found"},
	{"full", "verify", 0, ""},
	{"full", "frobnicate", 2, "unknown command"},
	{"full", "stat", 2, "did you mean stats"},
	{"full", "serch x", 2, "did you mean search?"},
	{"full", "policy exmple", 2, "did you mean example?"},
	{"full", "help serch", 2, "did you mean search?"},
	{"full", "stats --frobnicate", 2, "unknown flag"},
	{"full", "restore --all --dry-run --to main.go", 8, "not a directory"},
	{"full", "tree r4tga --kinds parnt", 2, "unknown kind of link"},
	{"full", "tree r4tga --kinds parent,reference", 0, ""},
	{"full", "grep x", 2, "did you mean search?"},
	{"full", "ls", 2, "did you mean list?"},
	{"full", "export", 2, "did you mean restore?"},
	{"full", "tag rm r4tga x", 2, "did you mean remove?"},
	{"full", "serch x", 2, "did you mean search?"},
	{"full", "verify --quick --deep", 2, "--quick, --deep and --repair cannot be combined"},
	{"full", "prune --policy keep.yaml --children stay", 2, "need --query or --run"},
	{"full", "prune --undo --children follow", 2, "need --query or --run"},
	{"full", "show r4tga -C 2", 2, "-C needs an event"},
	{"full", "show r4tga --versions --last 2", 2, "cannot be combined with flags"},
	{"full", "show r4tga --versions", 0, ""},
	{"full", "sql SELECT*1 --limit -1", 2, "cannot be negative"},
	{"full", "cost --blocks --by day", 2, "omit --by"},
	{"full", "search the --after here", 2, "hint: use the cursor that"},
	{"full", "search the --sort oldest --after 1795219536744173/c1:1.1", 2, "hint: use the cursor that"},
	{"full", "search the --facets colour", 2, "--facets takes agent"},
	{"full", "tag list r4tga", 0, "r4tga7f3ymvx3 has no tags"},
	{"full", "prices set m input=1 output=2 input=3", 2, "input is given twice"},
	{"full", "stats --storag", 2, "did you mean --storage?"},
	{"full", "list --archve x", 2, "did you mean --archive?"},
	{"full", "list --since 7d", 2, "write after: before the value"},
	{"full", "search x --tool Bash", 2, "write tool: before the value"},
	{"full", "cost --model x", 2, "write model: before the value"},
	{"full", "search x --fils", 2, "did you mean --files?"},
	{"full", "search -tool:Bash", 2, "after --, nothing is a flag: txarchive search -- '-tool:Bash'"},
	{"full", "search the -n many", 2, "--limit cannot be \"many\"\nhint: it takes a whole number"},
	{"full", "search the --timeout 1d", 0, ""},
	{"full", "search the --timeout 1500ms", 0, ""},
	{"full", "search the --timeout 1", 2, "--timeout cannot be \"1\"\nhint: it takes a length of time"},
	{"full", "sql SELECT*1 --timeout -1s", 2, "--timeout cannot be"},
	{"full", "status --max-age 2d", 0, ""},
	{"full", "stats extra", 2, "usage:"},
	{"full", "search", 2, "usage:"},
	{"full", "search \"unclosed", 2, "column"},
	{"full", "search --sort up x", 2, "order"},
	{"full", "search --limit -1 x", 2, "negative"},
	{"full", "show", 2, "an id is required"},
	{"full", "show r --format xml", 2, "unknown format"},
	{"full", "show r", 2, "several"},
	{"full", "tree r", 2, "several"},
	{"full", "tag add r x", 2, "several"},
	{"full", "cat c", 2, "several"},
	{"full", "show rnotthere --format openai", 4, "no run"},
	{"full", "show rnotthere --timeline", 4, "no run"},
	{"full", "show r4tga7f3ymvx3 --timeline --format openai", 2, "--timeline"},
	{"full", "show r4tga7f3ymvx3 --timeline --around cnothere:1", 4, "no run"},
	{"full", "show r4tga7f3ymvx3 --tools some", 2, "tools"},
	{"full", "show r4tga7f3ymvx3 -C -1", 2, "negative"},
	{"full", "list nofield:x", 2, "field"},
	{"full", "search nofield:x", 2, "field"},
	{"full", "search after:someday", 2, "column"},
	{"full", "sql SELECT*nosuch*FROM*v_runs", 2, "no such column"},
	{"full", "sql SELECT*nosuch*FROM*v_runs", 2, "a text is written in single quotes, 'nosuch';"},
	{"full", `sql SELECT*"nosuch"*FROM*v_runs`, 2, "a text is written in single quotes, 'nosuch';"},
	{"full", `sql SELECT*"run_ids"*FROM*v_runs`, 2, "did you mean run_id?"},
	{"full", "sql SELECT*cost*FROM*v_runs", 2, "did you mean cost_microusd?"},
	{"full", "sql SELECT*1;*SELECT*2", 2, ""},
	{"full", "sql ATTACH*'x'*AS*y", 2, ""},
	{"full", "man /no/such/dir", 4, "no such"},
	{"full", "show rnotthere", 4, "no run"},
	{"full", "show cnotthere:3", 4, "no run"},
	{"full", "show --first 1 --last 1 r", 2, "cannot be combined"},
	{"full", "tree nothere", 4, "no run"},
	{"full", "sql SELEC", 2, "syntax error"},
	{"full", "sql DROP*TABLE*x", 2, ""},
	{"full", "sql SELECT*1 --format xml", 2, "unknown format"},
	{"full", "sql SELECT*1 --param x", 2, "parameter"},
	{"full", "sql --limit 1 SELECT*1*UNION*SELECT*2", 7, "stopped"},
	{"full", "cat awf/none", 4, "no file"},
	{"full", "cat awf/storage/audit.jsonl --version 9", 4, "no version"},
	{"full", "cat awf/none --version 9", 4, "no file"},
	{"full", "restore --all", 2, "no target directory"},
	{"full", "restore --to x", 2, "what"},
	{"full", "restore --all --source awf --to x", 2, "--all"},
	{"full", "restore --all --to exit_test.go", 8, "is a file, not a directory"},
	{"full", "backup exit_test.go", 8, "is a file, not a directory"},
	{"full", "source remove nobody", 4, "no source"},
	{"full", "source add /no/such/dir", 4, "no such"},
	{"full", "source rename awf b", 8, "packs never change"},
	{"full", "ingest /no/such/dir", 4, "no such"},
	{"full", "stats --color blue", 2, "color"},
	{"full", "stats --log-format xml", 2, "log format"},
	{"none", "stats", 10, "ingest DIR"},
	{"none", "search x", 10, "ingest DIR"},
	{"none", "show x", 10, "ingest DIR"},
	{"none", "sql SELECT*1", 10, "ingest DIR"},
	{"none", "verify", 10, "ingest DIR"},
	{"none", "reindex", 10, "ingest DIR"},
	{"none", "restore --all --to x", 10, "ingest DIR"},
	{"none", "source list", 10, "ingest DIR"},
	{"none", "list", 10, "ingest DIR"},
	{"none", "list conversations", 10, "ingest DIR"},
	{"none", "status", 10, "ingest DIR"},
	{"none", "doctor", 10, "ingest DIR"},
	{"none", "tag add r4 x", 10, "ingest DIR"},
	{"none", "tag list", 10, "ingest DIR"},
	{"full", "list --columns x", 2, "unknown column"},
	{"full", "list --sort x", 2, "unknown sort order"},
	{"full", "list --format x", 2, "unknown format"},
	{"full", "list \"unclosed", 2, "column"},
	{"full", "list conversations rnotthere", 4, "no run"},
	{"full", "status --max-age 1ns", 6, "not scanned"},
	{"full", "tag add rnotthere x", 4, "no run"},
	{"full", "tag remove r4tga7f3ymvx3 x", 4, "no tag"},
	{"full", "tag add r4tga7f3ymvx3 a,b", 2, "invalid tag"},
	{"full", "tag list rnotthere", 4, "no run"},
	{"full", "doctor", 0, ""},
	{"other", "init", 8, "thesis.txt"},
	{"other", "ingest " + runs + "/awf", 8, "thesis.txt"},
}

func TestExitCodes(t *testing.T) {
	full, none, notEmpty := filled(t), filepath.Join(t.TempDir(), "none"), t.TempDir()
	must(t, os.WriteFile(filepath.Join(notEmpty, "thesis.txt"), []byte("x"), 0o600))
	archives := map[string]string{"full": full, "none": none, "other": notEmpty}
	for _, c := range exitCases {
		line := strings.Fields(c.line)
		for i := range line {
			line[i] = strings.ReplaceAll(line[i], "*", " ")
		}
		code, _, stderr := inside(t.Context(), archives[c.archive], "", line...)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%q: exit %d, want %d, and %q in\n%s", c.line, code, c.code, c.says, stderr)
		}
		if code != 0 && !strings.HasPrefix(stderr[strings.Index(stderr, "txarchive: "):], "txarchive: ") {
			t.Errorf("%q: message %q", c.line, stderr)
		}
		if code, _, stderr = inside(t.Context(), archives[c.archive], "", append(line, "--json")...); code != c.code {
			t.Errorf("%q --json: exit %d, want %d\n%s", c.line, code, c.code, stderr)
		} else if code != 0 {
			var e struct {
				Error struct {
					Code    int
					Message string
				}
			}
			last := strings.TrimSpace(stderr)
			last = last[strings.LastIndex(last, "\n")+1:]
			if err := json.Unmarshal([]byte(last), &e); err != nil || e.Error.Code != code || e.Error.Message == "" {
				t.Errorf("%q --json: %v in %s", c.line, err, stderr)
			}
		}
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a command that only reads has made an archive")
	}
}

func TestWithoutIndex(t *testing.T) {
	for name, spoil := range map[string]func(string) error{
		"missing": os.Remove,
		"garbage": func(file string) error { return os.WriteFile(file, bytes.Repeat([]byte("no database "), 1000), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filled(t)
			files, err := filepath.Glob(dir + "/index-*.db*")
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			for _, file := range files {
				must(t, spoil(file))
			}
			for _, line := range []string{"stats", "search x", "show r", "tree r", "cat awf/storage/audit.jsonl", "verify"} {
				code, _, stderr := inside(t.Context(), dir, "", strings.Fields(line)...)
				if code != failure.ExitCorrupt || !strings.Contains(stderr, "txarchive reindex") {
					t.Errorf("%s: exit %d\n%s", line, code, stderr)
				}
			}
			for _, line := range []string{"reindex", "verify", "stats"} {
				if code, _, stderr := inside(t.Context(), dir, "", line); code != 0 {
					t.Errorf("%s: exit %d\n%s", line, code, stderr)
				}
			}
		})
	}
}

func TestLocked(t *testing.T) {
	dir := filled(t)
	store, err := archive.Open(t.Context(), dir, archive.Write, archive.Options{Command: "txarchive ingest"})
	must(t, err)
	defer store.Close()
	for _, line := range [][]string{{"ingest"}, {"reindex"}, {"source", "add", t.TempDir()}} {
		code, _, stderr := inside(t.Context(), dir, "", line...)
		if code != failure.ExitLocked || !strings.Contains(stderr, fmt.Sprint(os.Getpid())) || !strings.Contains(stderr, "hint: ") {
			t.Errorf("%v: exit %d\n%s", line, code, stderr)
		}
	}
	for _, line := range [][]string{{"stats"}, {"search", "review"}, {"verify", "--quick"}, {"ingest", "--dry-run", runs + "/awf"}} {
		if code, _, stderr := inside(t.Context(), dir, "", line...); code != 0 {
			t.Errorf("%v waits for the writer: exit %d\n%s", line, code, stderr)
		}
	}
}

// TestInterrupted: only commands that write have something to go on with.
func TestInterrupted(t *testing.T) {
	dir := filled(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for line, hint := range map[string]string{
		"search review": "", "list": "", "stats": "", "cost": "", "show r4tga7f3ymvx3": "", "sql SELECT*1": "", "prune --query status:failed": "",
		"ingest " + runs: hintUndone, "gc": hintUndone, "prune --query status:failed --yes": hintUndone, "backup " + t.TempDir() + "/b": hintUndone,
		"verify": "nothing was changed", "reindex": "the previous index is still in place", "restore --all --to " + t.TempDir(): "files restored so far are complete; run the command again to continue",
	} {
		want := "txarchive: interrupted\n"
		if hint != "" {
			want += "hint: " + hint + "\n"
		}
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "*", " ")
		}
		if code, _, stderr := inside(ctx, dir, "", args...); code != failure.ExitInterrupted || stderr != want {
			t.Errorf("%s: exit %d\n%s", line, code, stderr)
		}
	}
}

// TestArguments: every command says in its own words what it takes, and its usage line says the same.
func TestArguments(t *testing.T) {
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			check(sub)
		}
		if c.Args == nil || c.HasSubCommands() && c.Name() != "pin" && !strings.Contains(c.Use, " ") || c.Name() == "help" {
			return
		}
		_, takes, _ := strings.Cut(c.Use, " ")
		needs := takes != "" && !strings.HasPrefix(takes, "[") && !strings.HasPrefix(takes, "--")
		for _, given := range [][]string{nil, slices.Repeat([]string{"x y"}, 9)} {
			var f *failure.Error
			switch err := c.Args(c, given); {
			case err == nil && given == nil && needs && c.Name() != "show":
				t.Errorf("%s is content with nothing", c.UseLine())
			case err == nil && given != nil && !strings.Contains(takes, "...") && !strings.Contains(takes, "[COST FLAGS]") && !strings.Contains(takes, "sql QUERY"):
				t.Errorf("%s is content with anything", c.UseLine())
			case err != nil && (!errors.As(err, &f) || f.Code != failure.ExitUsage || !strings.Contains(f.Text, " needs "+takes) && !strings.Contains(f.Text, " takes ") ||
				!strings.HasPrefix(f.Hint, "usage: "+c.UseLine()+"; ")):
				t.Errorf("%s: %v", c.UseLine(), err)
			}
		}
	}
	check(newRootCommand(newApp(), ""))
	code, _, stderr := inside(t.Context(), t.TempDir(), "", "sql", "SELECT", "1")
	want := "txarchive: sql takes [QUERY]: unexpected argument \"1\"\n" +
		"hint: usage: txarchive sql [QUERY] [flags]; txarchive sql --help has examples; quote arguments that contain spaces\n"
	if code != failure.ExitUsage || stderr != want {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}

func TestExplainErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
	}{
		{nil, 0},
		{errors.New("anything"), 1},
		{fmt.Errorf("x: %w", &query.SyntaxError{Column: 3}), 2},
		{&index.UnsupportedError{}, 2},
		{&index.SQLError{}, 2},
		{index.ErrAmbiguous, 2},
		{failure.Problems("a", "b"), 3},
		{index.ErrNotFound, 4},
		{fmt.Errorf("x: %w", blob.ErrCorrupt), 5},
		{index.ErrDamaged, 5},
		{index.ErrLimit, 7},
		{context.DeadlineExceeded, 7},
		{archive.ErrNotEmpty, 8},
		{archive.ErrNoArchive, 10},
		{fmt.Errorf("x: %w: %w", archive.ErrLocked, errors.New("by 7")), 11},
		{archive.ErrTooNew, 12},
		{index.ErrTooNew, 12},
	} {
		code, hint := explain(t.Context(), c.err)
		if code != c.code {
			t.Errorf("%v: exit %d, want %d", c.err, code, c.code)
		}
		if hint == "" && code > 2 {
			t.Errorf("%v: exit %d without a hint", c.err, code)
		}
	}
}

// TestHelp looks at what every command says of itself.
func TestCompleteCommands(t *testing.T) {
	a := &app{Printer: printer.Printer{Getenv: func(key string) string { return map[string]string{"TXARCHIVE_DIR": "usual"}[key] }}}
	newRootCommand(a, "")
	a.archive = "my%s archive"
	for _, c := range []struct{ in, want string }{
		{"rebuild the index: txarchive reindex", "rebuild the index: txarchive --archive 'my%s archive' reindex"},
		{"`txarchive ingest DIR` creates one, or txarchive source add DIR", "`txarchive --archive 'my%s archive' ingest DIR` creates one, or txarchive --archive 'my%s archive' source add DIR"},
		{"another txarchive is writing", ""},
		{"install a newer txarchive", ""},
		{"usage: txarchive show ID; txarchive show --help has examples", ""},
		{"txarchive source add --help lists the flags", ""},
		{"txarchive docs lists the pages", ""},
	} {
		want := cmp.Or(c.want, c.in)
		if got := a.completeCommands(c.in); got != want {
			t.Errorf("%s: %s", c.in, got)
		}
	}
	var errs bytes.Buffer
	a.Err = &errs
	a.Note("Try: txarchive %s %s", "list", "'txarchive cost'")
	if got, want := errs.String(), "Try: txarchive --archive 'my%s archive' list 'txarchive cost'\n"; got != want {
		t.Errorf("a note: %s", got)
	}
	for _, dir := range []string{"", "usual", "./usual/"} {
		a.archive = dir
		if got := a.completeCommands("txarchive cost"); got != "txarchive cost" {
			t.Errorf("--archive %q: %s", dir, got)
		}
	}
}

func TestHelp(t *testing.T) {
	root := newRootCommand(newApp(), "")
	for _, cmd := range allCommands(root) {
		top := cmd.Parent() == root
		if cmd.Example == "" || cmd.Short == "" || top && !strings.Contains(cmd.Long, "Exit codes: ") {
			t.Errorf("%s: help without example, summary or exit codes", cmd.CommandPath())
		}
		for _, line := range strings.Split(cmd.Long+"\n"+cmd.Example, "\n") {
			if len([]rune(line)) > 120 && !strings.HasPrefix(line, "Exit codes") {
				t.Errorf("%s: line of %d characters: %s", cmd.CommandPath(), len([]rune(line)), line)
			}
		}
	}
}

// allCommands returns the commands below one, but those of cobra.
func allCommands(cmd *cobra.Command) (all []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if c.Name() != "help" && c.Name() != "completion" {
			all = append(append(all, c), allCommands(c)...)
		}
	}
	return all
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestResultsThatDoNotArrive: no command ends well whose results could not be written.
func TestResultsThatDoNotArrive(t *testing.T) {
	dir := filled(t)
	for _, line := range []string{"--help", "version", "", "stats", "list", "list --json", "search the", "search --json the", "search --files the",
		"search --facets tool the", "search --count the", "show r4tga", "show --json r4tga", "show --format raw r4tga", "tree r4tga", "cost", "cost --json",
		"cost --chart", "cost --explain all", "sql SELECT*1", "sql --format csv SELECT*1", "cat awf/storage/audit.jsonl", "status", "doctor", "source list",
		"prices list", "report list", "report run tool-errors", "policy example starter", "verify", "gc", "completion bash", "--redact list"} {
		var errs bytes.Buffer
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "*", " ")
		}
		a := &app{Printer: printer.Printer{Out: full{}, Err: &errs, Now: time.Now, Getenv: func(key string) string {
			return map[string]string{"TXARCHIVE_DIR": dir, "HOME": "/nonexistent"}[key]
		}}, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler)}
		if code := execute(t.Context(), a, args); code != failure.ExitUnexpected || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%s: exit %d: %s", line, code, errs.String())
		}
	}
}
