package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
)

// terminalOf opens a terminal of so many columns: what is written to it comes out of the function when it is closed.
func terminalOf(t *testing.T, columns uint16) (*os.File, func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("the screens cannot be looked at without a terminal: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	ioctl := func(request uintptr, arg unsafe.Pointer) {
		t.Helper()
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(arg)); errno != 0 {
			t.Fatal(errno)
		}
	}
	var unlocked, number int32
	ioctl(syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	ioctl(syscall.TIOCGPTN, unsafe.Pointer(&number))
	size := [4]uint16{40, columns, 0, 0}
	ioctl(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	var out bytes.Buffer
	done := make(chan struct{})
	go func() { // ends with an error when the last end of the terminal is closed
		defer close(done)
		_, _ = out.ReadFrom(master)
	}()
	return slave, func() string {
		_ = slave.Close()
		<-done
		return strings.ReplaceAll(out.String(), "\r\n", "\n")
	}
}

var colorCodes = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// TestScreens looks at what people see on terminals of several widths, of all formats.
func TestScreens(t *testing.T) {
	dir := example(t)
	for _, line := range []string{"tag add rzhdkf release-of-november", "pin rzhdkf --reason the-demo-of-november-and-of-december", "hold add rzhdkf --owner the-department-of-law --reason case-7"} {
		if code, _, stderr := inside(t.Context(), dir, "", strings.Fields(line)...); code != 0 {
			t.Fatalf("%s: exit %d\n%s", line, code, stderr)
		}
	}
	for _, line := range []string{
		"", "verify", "verify --quick", "gc --dry-run", "cost --budget 1000", "ingest --dry-run",
		"list", "list --sort cost", "list conversations", "list conversations --all", "stats", "stats --storage", "status", "doctor", "source list",
		"tree r4tga7f3ymvx3", "tree rxtvjsm9dx137", "show rzhdkf6qx3kk1", "show r4tga7f3ymvx3", "show r2fs94pz3fwak", "show rvxamfjqa9vme",
		"show rxtvjsm9dx137", "show c02r1h4ym8mv7 --tools full", "search name", "search 可选链", "show rxtvjsm9dx137 --versions", "show r4tga7f3ymvx3 --timeline",
		"tag list", "pin", "hold list", "report list", "prices list", "prices list claude", "prices show claude-sonnet-4-5", "cost", "cost --by project,model",
		"cost --blocks", "cost --tree r4tga7f3ymvx3", "report diff 2025 2026 --by model", "report run cost-by-step", "search name --facets path", "prune --query format:leslie",
	} {
		for _, width := range []int{43, 50, 80, 200} {
			slave, screen := terminalOf(t, uint16(width))
			a := &app{Printer: printer.Printer{Out: slave, Err: new(bytes.Buffer), Now: time.Now, Getenv: func(key string) string {
				return map[string]string{"TXARCHIVE_DIR": dir, "HOME": "/nonexistent", "TERM": "xterm", "TXARCHIVE_PAGER": "cat"}[key]
			}}, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler)}
			code := execute(t.Context(), a, strings.Fields(line))
			out := colorCodes.ReplaceAllString(screen(), "")
			if code != 0 || strings.TrimSpace(out) == "" {
				t.Errorf("%s: exit %d, %q\n%v", line, code, out, a.Err)
			}
			for _, s := range strings.Split(out, "\n") {
				whole := strings.HasPrefix(s, "original ") || strings.HasPrefix(s, "native id ") || // somebody may want to copy it
					strings.Contains(s, dir) && len(dir)+len("Use: ") > width
				if n := terminal.Width(s); n > width && !whole || !utf8.ValidString(s) || strings.ContainsRune(s, '\ufffd') {
					t.Errorf("%s: %d of %d columns: %q", line, n, width, s)
				}
			}
		}
	}
}

// TestScreenKeepsLines: the lines of a transcript are those of its original, also on a terminal that is too narrow for some of them.
func TestScreenKeepsLines(t *testing.T) {
	dir := example(t)
	for _, id := range []string{"c02r1h4ym8mv7", "rxtvjsm9dx137", "rzhdkf6qx3kk1", "r2fs94pz3fwak"} {
		line := []string{"show", id, "--tools", "full"}
		code, piped, stderr := inside(t.Context(), dir, "", line...)
		if code != 0 {
			t.Fatalf("%s: exit %d\n%s", line, code, stderr)
		}
		slave, screen := terminalOf(t, 80)
		a := &app{Printer: printer.Printer{Out: slave, Err: new(bytes.Buffer), Now: time.Now, Getenv: func(key string) string {
			return map[string]string{"TXARCHIVE_DIR": dir, "HOME": "/nonexistent", "TERM": "xterm", "TXARCHIVE_PAGER": "cat"}[key]
		}}, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler)}
		if code := execute(t.Context(), a, line); code != 0 {
			t.Fatalf("%s: exit %d\n%v", line, code, a.Err)
		}
		shown := map[string]bool{}
		for s := range strings.Lines(colorCodes.ReplaceAllString(screen(), "")) {
			shown[strings.TrimRight(s, "\r\n ")] = true
		}
		body := false
		for s := range strings.Lines(piped) {
			s = strings.TrimRight(s, "\n ")
			body = body || strings.HasPrefix(s, "  ")
			if body && terminal.Width(s) < 75 && !strings.Contains(s, "\t") && !shown[s] {
				t.Errorf("%s: not a line of its own: %q", id, s)
			}
		}
	}
}

// TestGridIDs: ids of a statement's rows are typed again, so other columns are cut.
func TestGridIDs(t *testing.T) {
	slave, screen := terminalOf(t, 50)
	w, err := (&printer.Printer{Out: slave, Color: "never", Getenv: func(string) string { return "" }}).Rows("table")
	must(t, err)
	must(t, w.Columns([]string{"event_id", "run_id", "title"}))
	must(t, w.Row([]any{"c02r1h4ym8mv7:8.1", "r4tga7f3ymvx3", "make the login page faster"}))
	must(t, w.End())
	if got, want := screen(), "event_id           run_id         title\nc02r1h4ym8mv7:8.1  r4tga7f3ymvx3  make the login …\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestRedactedScreen looks at credentials where a terminal is too narrow for them.
func TestRedactedScreen(t *testing.T) {
	dir := t.TempDir()
	token := "ghp_" + "vJ7rK2mQ9xT4bN8wL1cY5dF3hZ6pS0gAeUiO"
	run := filepath.Join(dir, "notes", ".devflow", "runs", "2026-11-10-implement-00000001")
	must(t, os.MkdirAll(run, 0o700))
	must(t, os.WriteFile(filepath.Join(run, "metadata.json"), []byte(`{"runId":"`+token+`","workflow":"`+token+`","status":"completed"}`), 0o600))
	archive := filepath.Join(dir, "archive")
	if code, _, stderr := inside(t.Context(), archive, "", "ingest", filepath.Join(dir, "notes")); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, line := range [][]string{{"list"}, {"tree", token}, {"show", token}, {"sql", "SELECT * FROM v_runs"}} {
		slave, screen := terminalOf(t, 40)
		a := &app{Printer: printer.Printer{Out: slave, Err: new(bytes.Buffer), Now: time.Now, Getenv: func(key string) string {
			return map[string]string{"TXARCHIVE_DIR": archive, "HOME": "/nonexistent", "TERM": "xterm", "TXARCHIVE_PAGER": "cat"}[key]
		}}, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler)}
		code := execute(t.Context(), a, append(line, "--redact"))
		if out := colorCodes.ReplaceAllString(screen(), ""); code != 0 || strings.Contains(out, "vJ7rK") || !strings.Contains(out, "[redacted: github-pat]") {
			t.Errorf("%s: exit %d, %s\n%v", line, code, out, a.Err)
		}
	}
}

// TestDoctorPlaces: the ends of long places are there, too, for that is where the lines are, and what to type next names the archive.
func TestDoctorPlaces(t *testing.T) {
	dir := t.TempDir()
	full, empty := filepath.Join(dir, "full"), filepath.Join(dir, "empty")
	file := filepath.Join(dir, "notes", strings.Repeat("a-long-name-", 8), "words")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	written(t, file, []byte("ghp_"+"vJ7rK2mQ9xT4bN8wL1cY5dF3hZ6pS0gAeUiO"))
	call(t, full, "ingest", "--all", filepath.Join(dir, "notes"))
	call(t, empty, "init")
	for _, c := range []struct{ archive, want string }{
		{full, "words line 1, 40 bytes at 0"},
		{empty, "no sources yet: txarchive --archive " + empty + " ingest DIR"},
	} {
		slave, screen := terminalOf(t, 80)
		a := &app{Printer: printer.Printer{Out: slave, Err: new(bytes.Buffer), Now: time.Now, Getenv: func(key string) string {
			return map[string]string{"HOME": "/nonexistent", "TERM": "xterm", "TXARCHIVE_PAGER": "cat"}[key]
		}}, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler)}
		execute(t.Context(), a, []string{"doctor", "--secrets", "--archive", c.archive})
		if out := strings.Join(strings.Fields(colorCodes.ReplaceAllString(screen(), "")), " "); !strings.Contains(out, c.want) {
			t.Errorf("no %q in %s\n%v", c.want, out, a.Err)
		}
	}
}

// TestMessagesFit: what is said beside the results is broken at words, but for command lines, which somebody may copy.
func TestMessagesFit(t *testing.T) {
	dir := example(t)
	for _, line := range []string{
		"search workflow", "search workfow", "search role:usr", "list format:lesly", "list title:nothing", "show rnothere", "show r", "list --sort nothing",
		"prune --query format:leslie", "prune --undo p1", "policy show", "verify extra words", "search --nothing", "cost --by nothing", "cost after:2030",
		"forget --query format:leslie 'no such words'", "restore --all --to /dev/null/x", "backup verify nowhere", "sql SELECT", "schedule status", "prices list gpt",
	} {
		for _, width := range []int{43, 80} {
			slave, screen := terminalOf(t, uint16(width))
			a := &app{Printer: printer.Printer{Out: new(bytes.Buffer), Err: slave, Now: time.Now, Getenv: func(key string) string {
				return map[string]string{"TXARCHIVE_DIR": dir, "HOME": "/nonexistent", "TERM": "xterm"}[key]
			}}, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler)}
			code := execute(t.Context(), a, strings.Fields(line))
			out := screen()
			if code != 0 && out == "" {
				t.Errorf("%s: exit %d without a word", line, code)
			}
			for _, s := range strings.Split(out, "\n") {
				if n := terminal.Width(s); n > width && strings.Contains(strings.TrimSpace(s), " ") && !strings.Contains(s, "txarchive ") {
					t.Errorf("%s: %d of %d columns: %q", line, n, width, s)
				}
			}
		}
	}
}
