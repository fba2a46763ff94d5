package schedule

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/txarchive/txarchive/internal/disk"
)

func job(command ...string) *Job {
	return &Job{Name: "txarchive-nightly", Command: command, Hour: 3, Minute: 7, Jitter: 30 * time.Minute}
}

// TestQuoting compares the command lines with hand-written ones.
func TestQuoting(t *testing.T) {
	for _, c := range []struct{ arg, systemd, cron string }{
		{"/home/me/archive", `"/home/me/archive"`, "/home/me/archive"},
		{"/home/my files/a", `"/home/my files/a"`, "'/home/my files/a'"},
		{"/50%/a", `"/50%%/a"`, `'/50\%/a'`},
		{"/%n%%", `"/%%n%%%%"`, `'/\%n\%\%'`},
		{"/$HOME/${x}", `"/$$HOME/$${x}"`, `'/$HOME/${x}'`},
		{`/say "hi"`, `"/say \"hi\""`, `'/say "hi"'`},
		{"/it's", `"/it's"`, `'/it'\''s'`},
		{`/back\slash\n`, `"/back\\slash\\n"`, `'/back\slash\n'`},
		{"/a;b #c", `"/a;b #c"`, `'/a;b #c'`},
		{";", `";"`, `';'`},
		{"", `""`, `''`},
		{"/`id`&|<>*?[]~!", "\"/`id`&|<>*?[]~!\"", "'/`id`&|<>*?[]~!'"},
		{"/归档/é", `"/归档/é"`, "'/归档/é'"},
		{"/tab\there", `"/tab\x09here"`, "'/tab\there'"},
	} {
		j := job("/bin/txarchive", c.arg)
		if want := "\nExecStart=\"/bin/txarchive\" " + c.systemd + "\n"; !strings.Contains(j.service(), want) {
			t.Errorf("%q: %s\nlacks %s", c.arg, j.service(), want)
		}
		text, err := j.crontab()
		if want := "\n7 3-23 * * * /bin/txarchive " + c.cron + " --unless-within=20h\n"; err != nil || !strings.Contains(text, want) {
			t.Errorf("%q: %s (%v)\nlacks %s", c.arg, text, err, want)
		}
	}
}

// oddNames are names of directories that are hard to quote.
var oddNames = []string{
	"plain", "two words", " space at both ends ", "50%", "%h %n %%", "$HOME ${x} $$", `a "quoted" one`, "it's", `back\slash\x20\n`, `\\two\\\three\%`, "semi;colon #hash",
	"`id` $(id) & | < > * ? [a] ~ !", "归档 é", "tab\there", "-dash", "@at :colon +plus", "a,b=c", "<xml> & 'q' \"d\" ]]>", "line\nbreak",
}

// TestRead parses the rendered files as each scheduler does: the arguments must be those of the job. The shell runs cron's
// lines, and systemd-analyze checks systemd's if it is installed.
func TestRead(t *testing.T) {
	const script = "#!/bin/sh\nfor a in \"$0\" \"$@\"; do printf '%s\\0' \"$a\"; done\n"
	top := t.TempDir()
	for _, name := range oddNames {
		dir := filepath.Join(top, name)
		program := filepath.Join(dir, "tx "+name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		j := job(program, "nightly", "--archive="+dir, name)
		if err := analyze(t, j, top); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if got := readSystemd(t, j.service()); !slices.Equal(got, j.Command) {
			t.Errorf("systemd reads %q of %q", got, j.Command)
		}
		if got := readPlist(t, j); !slices.Equal(got, j.Command) {
			t.Errorf("launchd reads %q of %q", got, j.Command)
		}
		text, err := j.crontab()
		if strings.Contains(name, "\n") {
			if !errors.Is(err, ErrUnusable) {
				t.Errorf("a line break in a crontab: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := runCron(t, text); !slices.Equal(got, append(slices.Clone(j.Command), CatchUp)) {
			t.Errorf("cron runs %q of %q", got, j.Command)
		}
	}
	for _, bad := range []string{"a\x00b", "\xff\xfe"} {
		for _, kind := range Kinds() {
			if _, err := job("/bin/true", bad).Render(kind); !errors.Is(err, ErrUnusable) {
				t.Errorf("%s takes %q: %v", kind, bad, err)
			}
		}
	}
	if _, err := job("/bin/true", "\x1b").Render(Launchd); !errors.Is(err, ErrUnusable) {
		t.Errorf("an escape in a property list: %v", err)
	}
	if _, err := job("bin/true").Render(Cron); !errors.Is(err, ErrUnusable) {
		t.Errorf("a relative path: %v", err)
	}
}

// analyze runs systemd-analyze on the units. Any output is an error.
func analyze(t *testing.T, j *Job, top string) error {
	t.Helper()
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("systemd-analyze is not here: the units are only read by our own reader")
		return nil
	}
	dir := filepath.Join(top, "units")
	files, err := j.Render(Systemd)
	if err != nil {
		return err
	}
	args := []string{"verify", "--man=no", "--recursive-errors=no"}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, []byte(f.Text), 0o600)); err != nil {
			return err
		}
		args = append(args, path)
	}
	out, err := exec.CommandContext(t.Context(), tool, args...).CombinedOutput()
	if err == nil && len(bytes.TrimSpace(out)) > 0 {
		err = errors.New("it complains")
	}
	if err != nil {
		return fmt.Errorf("systemd-analyze: %w: %s\n%s", err, out, files[0].Text)
	}
	return nil
}

// readSystemd does what systemd does to ExecStart, after systemd.service(5): words with C escapes, specifiers, and
// variables in all but the program. A shell in between is undone.
func readSystemd(t *testing.T, unit string) []string {
	t.Helper()
	_, line, _ := strings.Cut(unit, "\nExecStart=")
	line, _, _ = strings.Cut(line, "\n")
	var words []string
	for line != "" {
		if line[0] != '"' { // only our own /bin/sh -c
			word, rest, _ := strings.Cut(line, " ")
			words, line = append(words, word), rest
			continue
		}
		end := 1
		for line[end] != '"' {
			if line[end] == '\\' {
				end++
			}
			end++
		}
		word := regexp.MustCompile(`\\(x[0-9a-f]{2}|.)`).ReplaceAllStringFunc(line[1:end], func(s string) string {
			if s[1] != 'x' {
				return s[1:]
			}
			c, err := strconv.ParseUint(s[2:], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			return string([]byte{byte(c)})
		})
		word = strings.ReplaceAll(word, "%%", "%")
		if len(words) > 0 {
			word = strings.ReplaceAll(word, "$$", "$")
		}
		words, line = append(words, word), strings.TrimPrefix(line[end+1:], " ")
	}
	if len(words) > 3 && words[0] == "/bin/sh" && words[1] == "-c" && words[2] == `exec "$0" "$@"` {
		words = words[3:]
	}
	return words
}

func readPlist(t *testing.T, j *Job) []string {
	t.Helper()
	text, err := j.plist()
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(text))
	var words []string
	inArray, current := false, (*strings.Builder)(nil)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return words
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		switch v := token.(type) {
		case xml.StartElement:
			inArray = inArray || v.Name.Local == "array"
			if inArray && v.Name.Local == "string" {
				current = &strings.Builder{}
			}
		case xml.CharData:
			if current != nil {
				current.Write(v)
			}
		case xml.EndElement:
			if v.Name.Local == "array" {
				inArray = false
			}
			if current != nil {
				words, current = append(words, current.String()), nil
			}
		}
	}
}

// runCron does what cron does: the sixth field, up to a bare percent sign, goes to the shell.
func runCron(t *testing.T, crontab string) []string {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(crontab, "\n"), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines in %q", len(lines), crontab)
	}
	command := strings.SplitN(lines[2], " ", 6)[5]
	escaped := regexp.MustCompile(`\\([%\\])`) // a backslash before anything else stays, as Debian's cron 3.0 does
	if strings.Contains(escaped.ReplaceAllString(command, ""), "%") {
		t.Fatalf("a bare %% in %s", command)
	}
	out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", escaped.ReplaceAllString(command, "$1")).Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

func TestNext(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ now, want string }{
		{"2026-11-21T01:00:00+01:00", "2026-11-21T03:07:00+01:00"}, {"2026-11-21T03:07:00+01:00", "2026-11-22T03:07:00+01:00"},
		{"2026-10-24T12:00:00+02:00", "2026-10-25T03:07:00+01:00"}, {"2026-12-31T23:59:00+01:00", "2027-01-01T03:07:00+01:00"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := Next(now.In(zone), 3, 7).Format(time.RFC3339); got != c.want {
			t.Errorf("after %s: %s, want %s", c.now, got, c.want)
		}
	}
}

// machine fakes the programs that an Installer runs.
type machine struct {
	crontab string
	ran     []string
}

func (m *machine) run(_ context.Context, stdin, name string, args ...string) (string, error) {
	m.ran = append(m.ran, name+" "+strings.Join(args, " "))
	switch {
	case name == "crontab" && args[0] == "-l" && m.crontab == "":
		return "", errors.New("exit status 1: no crontab for me")
	case name == "crontab" && args[0] == "-l":
		return m.crontab, nil
	case name == "crontab":
		m.crontab = stdin
	}
	return "", nil
}

func TestInstallCron(t *testing.T) {
	m := &machine{}
	in := &Installer{FS: &disk.FS{}, Home: t.TempDir(), Run: m.run}
	j := job("/bin/txarchive", "nightly")
	if _, err := in.Status(t.Context(), j, Cron, time.Now()); !errors.Is(err, ErrNone) {
		t.Errorf("before: %v", err)
	}
	m.crontab = "MAILTO=me\n5 4 * * * backup" // as people leave it, without a line end
	for range 2 {
		if err := in.Install(t.Context(), j, Cron); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Count(m.crontab, "/bin/txarchive") != 1 || !strings.HasPrefix(m.crontab, "MAILTO=me\n5 4 * * * backup\n# >>>") {
		t.Errorf("crontab:\n%s", m.crontab)
	}
	s, err := in.Status(t.Context(), j, Cron, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	if err != nil || !s.Next.Equal(time.Date(2026, 11, 22, 3, 7, 0, 0, time.UTC)) {
		t.Errorf("%+v, %v", s, err)
	}
	m.crontab += "6 5 * * * after\n"
	if err := in.Remove(t.Context(), j, Cron); err != nil || m.crontab != "MAILTO=me\n5 4 * * * backup\n6 5 * * * after\n" {
		t.Errorf("%q, %v", m.crontab, err)
	}
	if err := in.Remove(t.Context(), j, Cron); !errors.Is(err, ErrNone) {
		t.Errorf("a second time: %v", err)
	}
	for _, foreign := range []string{j.blockStart() + "\n1 2 * * * mine\n" + j.blockEnd() + "\n", j.blockStart() + "\n# " + j.mark() + "\n1 2 * * * mine\n"} {
		m.crontab = foreign
		if err := in.Install(t.Context(), j, Cron); !errors.Is(err, ErrForeign) || m.crontab != foreign {
			t.Errorf("%q became %q, %v", foreign, m.crontab, err)
		}
	}
}

func TestInstallFiles(t *testing.T) {
	for _, kind := range []Kind{Systemd, Launchd} {
		m := &machine{}
		in := &Installer{FS: &disk.FS{}, Home: t.TempDir(), Run: m.run}
		j := job("/bin/txarchive", "nightly")
		if err := in.Remove(t.Context(), j, kind); !errors.Is(err, ErrNone) {
			t.Errorf("%s before: %v", kind, err)
		}
		for _, minute := range []int{7, 9} {
			j.Minute = minute
			if err := in.Install(t.Context(), j, kind); err != nil {
				t.Fatal(err)
			}
		}
		s, err := in.Status(t.Context(), j, kind, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		if err != nil || s.Next.Minute() != 9 || len(m.ran) == 0 {
			t.Errorf("%s: %+v, %v, ran %q", kind, s, err, m.ran)
		}
		if err := in.Remove(t.Context(), j, kind); err != nil {
			t.Error(err)
		}
		last := s.Paths[len(s.Paths)-1]
		if _, err := os.Stat(last); err == nil {
			t.Errorf("%s is still there", last)
		}
		if err := os.WriteFile(last, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		m.ran = nil
		if err := errors.Join(in.Install(t.Context(), j, kind), in.Remove(t.Context(), j, kind)); !errors.Is(err, ErrForeign) || len(m.ran) > 0 {
			t.Errorf("%s: %v, ran %q", kind, err, m.ran)
		}
		if b, err := os.ReadFile(last); err != nil || string(b) != "mine" || len(s.Paths) == 2 && exists(s.Paths[0]) {
			t.Errorf("%q, %v", b, err)
		}
	}
}

// TestInstallRefused: a scheduler that does not accept the job leaves what was scheduled before, and nothing that looks scheduled.
func TestInstallRefused(t *testing.T) {
	for _, kind := range []Kind{Systemd, Launchd} {
		m := &machine{}
		refused := errors.New("no bus")
		in := &Installer{FS: &disk.FS{}, Home: t.TempDir(), Run: func(context.Context, string, string, ...string) (string, error) { return "", refused }}
		j := job("/bin/txarchive", "nightly")
		if err := in.Install(t.Context(), j, kind); !errors.Is(err, ErrInactive) || !errors.Is(err, refused) {
			t.Errorf("%s: %v", kind, err)
		}
		if _, err := in.Status(t.Context(), j, kind, time.Now()); !errors.Is(err, ErrNone) {
			t.Errorf("%s: status: %v", kind, err)
		}
		in.Run, j.Minute = m.run, 7
		if err := in.Install(t.Context(), j, kind); err != nil {
			t.Fatal(err)
		}
		in.Run, j.Minute = func(context.Context, string, string, ...string) (string, error) { return "", refused }, 9
		if err := in.Install(t.Context(), j, kind); !errors.Is(err, ErrInactive) {
			t.Errorf("%s, again: %v", kind, err)
		}
		if s, err := in.Status(t.Context(), j, kind, time.Now()); err != nil || s.Next.Minute() != 7 {
			t.Errorf("%s, again: %+v, %v", kind, s, err)
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
