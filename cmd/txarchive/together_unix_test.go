//go:build unix

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/seedtest"
)

var crowded = flag.Duration("crowded", time.Second, "how long TestTogether has everybody at work")

// crowd is an archive with many processes at work on it.
type crowd struct {
	t           *testing.T
	bin         string
	dir, source string
	stop        chan struct{}
	working     sync.WaitGroup

	mu      sync.Mutex
	written map[string]string // what producers have written until now, whole lines or not, by file
	runs    map[string]int    // commands that ended, by their first word and exit code
}

// TestTogether has readers, writers, a pruner and producers at work on one archive at the same time, with processes that are
// suspended while they hold the lock, clocks that go backwards, and packs of another machine that come in. Readers never
// fail, a second writer is refused, and in the end everything is there and in order.
func TestTogether(t *testing.T) {
	c := &crowd{t: t, bin: program(t), dir: filepath.Join(t.TempDir(), "archive"), source: filepath.Join(t.TempDir(), "runs"),
		stop: make(chan struct{}), written: map[string]string{}, runs: map[string]int{}}
	must(t, os.CopyFS(filepath.Join(c.source, "awf"), os.DirFS(filepath.Join(runs, "awf"))))
	kept, dead, foreign := newLeaky(c.source, 1), newLeaky(c.source, 2), newLeaky(t.TempDir(), 3)
	kept.write(t, seedtest.Rand(t), 50)
	dead.write(t, seedtest.Rand(t), 50)
	call(t, c.dir, "ingest", c.source)
	other := c.otherMachine(foreign, seedtest.Rand(t))

	for range 3 {
		c.work(seedtest.Rand(t), func(r *rand.Rand) { c.read(r, kept, dead) })
	}
	for range 2 {
		c.work(seedtest.Rand(t), func(r *rand.Rand) { c.write(r) })
	}
	for n := range 2 {
		c.work(seedtest.Rand(t), func(r *rand.Rand) { c.produce(r, n) })
	}
	c.working.Go(func() { c.comeIn(other) })
	c.working.Go(func() { c.prune(dead) })
	for began := time.Now(); time.Since(began) < *crowded || !c.contended() && time.Since(began) < time.Minute; {
		time.Sleep(50 * time.Millisecond)
	}
	close(c.stop)
	c.working.Wait()
	t.Logf("commands and their exit codes: %v", c.runs)
	if !c.contended() {
		t.Errorf("no writer came through, or none was refused: %v", c.runs)
	}
	c.settled(kept, dead, foreign)
}

// contended says whether a writer came through, and one was refused.
func (c *crowd) contended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs["ingest 0"]+c.runs["ingest 3"] > 0 && c.runs["ingest 11"] > 0
}

// work repeats something until the end.
func (c *crowd) work(r *rand.Rand, once func(*rand.Rand)) {
	c.working.Go(func() {
		for !c.over() {
			once(r)
		}
	})
}

func (c *crowd) over() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

// run runs a command; it may be held up by what is done to its process.
func (c *crowd) run(program string, env []string, treat func(*os.Process), args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	cmd := exec.Command(program, append([]string{"--archive", c.dir}, args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &out, &errs
	if err := cmd.Start(); err != nil {
		c.t.Error(err)
		return -1, "", ""
	}
	if treat != nil {
		treat(cmd.Process)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		c.t.Error(err)
	}
	code = cmd.ProcessState.ExitCode()
	c.mu.Lock()
	c.runs[fmt.Sprint(args[0], " ", code)]++
	c.mu.Unlock()
	if strings.Contains(errs.String(), "DATA RACE") || strings.Contains(errs.String(), "panic:") {
		c.t.Errorf("%q: %s", args, errs.String())
	}
	return code, out.String(), errs.String()
}

// read asks a question that has an answer whatever goes on.
func (c *crowd) read(r *rand.Rand, kept, dead *leaky) {
	mark := kept.marks[r.IntN(len(kept.marks))]
	c.mu.Lock()
	said := len(c.written)
	c.mu.Unlock()
	lines := [][]string{
		{"search", "--json", mark}, {"search", "--json", dead.marks[0]}, {"stats", "--json"}, {"status", "--json"}, {"list", "--json"},
		{"cat", "runs/" + awfTranscripts + "/" + filepath.Base(kept.file)}, {"cost", "--json", "--by", "format"},
		{"restore", "--all", "--json", "--to", filepath.Join(c.t.TempDir(), fmt.Sprint("back", said, r.Uint64()))},
	}
	line := lines[r.IntN(len(lines))]
	code, stdout, stderr := c.run(c.bin, nil, nil, line...)
	switch {
	case code != 0:
		c.t.Errorf("%q: exit %d\n%s", line, code, stderr)
	case line[0] == "search" && line[2] == mark && strings.Count(stdout, "\n") != 1:
		c.t.Errorf("%q finds\n%s", line, stdout)
	case line[0] == "search" && line[2] != mark && strings.Count(stdout, "\n") > 1:
		c.t.Errorf("%q finds\n%s", line, stdout)
	}
}

// write takes in what is new, or tidies up; now and then the process is suspended, and now and then the clock is wrong.
func (c *crowd) write(r *rand.Rand) {
	line, program, env := []string{"ingest", c.source}, c.bin, []string(nil)
	switch r.IntN(6) {
	case 0:
		line = []string{"gc"}
	case 1:
		line = []string{"nightly", "--wait=0s", "--grace=0s"}
	case 2:
		program, env = "txarchive-at", []string{"TEST_NOW=" + time.Now().Add(-time.Duration(r.IntN(48))*time.Hour).Format(time.RFC3339)}
	}
	code, stdout, stderr := c.run(program, env, func(p *os.Process) {
		if r.IntN(3) == 0 {
			time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond)
			_ = p.Signal(syscall.SIGSTOP) // it may have ended
			time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
			_ = p.Signal(syscall.SIGCONT)
		}
	}, line...)
	torn := code == failure.ExitProblems && strings.Contains(stdout+stderr, "could not be read") // a file that was cut off just then
	if code != 0 && code != failure.ExitLocked && !torn {
		c.t.Errorf("%q: exit %d\n%s%s", line, code, stdout, stderr)
	}
	if code == failure.ExitLocked && !strings.Contains(stdout+stderr, "process") {
		c.t.Errorf("%q does not say who holds the lock: %s%s", line, stdout, stderr)
	}
}

// produce writes on to a file as an agent does: lines that come in pieces; or begins it anew.
func (c *crowd) produce(r *rand.Rand, n int) {
	name := filepath.Join(awfTranscripts, fmt.Sprintf("%08d-0000-4000-8000-%012d.jsonl", 70+n, 70+n))
	c.mu.Lock()
	content := c.written[name]
	c.mu.Unlock()
	flags := os.O_CREATE | os.O_APPEND | os.O_WRONLY
	if r.IntN(40) == 0 {
		flags, content = os.O_CREATE|os.O_TRUNC|os.O_WRONLY, ""
	}
	line := fmt.Sprintf(`{"seq":%d,"run_id":%q,"type":"message.user","path":"w","iteration":0,"timestamp":"2026-11-20T00:00:00Z","payload":{"role":"user","blocks":[{"type":"text","text":"Wombat%x"}]}}`+"\n",
		strings.Count(content, "\n"), strings.TrimSuffix(filepath.Base(name), ".jsonl"), r.Uint64())
	f, err := os.OpenFile(filepath.Join(c.source, name), flags, 0o600)
	if err != nil {
		c.t.Error(err)
		return
	}
	cut := r.IntN(len(line))
	for _, part := range []string{line[:cut], line[cut:]} {
		if _, err := f.WriteString(part); err != nil {
			c.t.Error(err)
		}
		time.Sleep(time.Duration(r.IntN(5)) * time.Millisecond)
	}
	if err := f.Close(); err != nil {
		c.t.Error(err)
	}
	c.mu.Lock()
	c.written[name] = content + line
	c.mu.Unlock()
}

// otherMachine makes an archive elsewhere.
func (c *crowd) otherMachine(l *leaky, r *rand.Rand) (packs []string) {
	root := filepath.Join(c.t.TempDir(), "elsewhere")
	must(c.t, os.MkdirAll(filepath.Join(root, awfTranscripts), 0o700))
	l.file = filepath.Join(root, awfTranscripts, filepath.Base(l.file))
	dir := filepath.Join(c.t.TempDir(), "other")
	for range 4 {
		l.write(c.t, r, 10)
		call(c.t, dir, "ingest", root)
	}
	packs, err := filepath.Glob(dir + "/packs/*/*/*.gz")
	must(c.t, err)
	return packs
}

// comeIn copies the packs of another machine into the archive, one by one, as rsync does.
func (c *crowd) comeIn(packs []string) {
	for _, p := range packs {
		time.Sleep(*crowded / time.Duration(len(packs)+1))
		rel := p[strings.LastIndex(p, "/packs/"):]
		b, err := os.ReadFile(p)
		to := filepath.Join(c.dir, rel)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to+".part", b, 0o600), os.Rename(to+".part", to))
		if err != nil {
			c.t.Error(err)
		}
	}
}

// prune lets a run go while others look for it.
func (c *crowd) prune(dead *leaky) {
	time.Sleep(*crowded / 3)
	for {
		code, stdout, stderr := c.run(c.bin, nil, nil, "prune", "--yes", "--query", "run:"+dead.id)
		if code == 0 {
			return
		}
		if code != failure.ExitLocked && code != failure.ExitRefused {
			c.t.Errorf("prune: exit %d\n%s%s", code, stdout, stderr)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// settled wants everything in order when nobody is at work any more.
func (c *crowd) settled(kept, dead, foreign *leaky) {
	t := c.t
	quiet := time.Now().Add(-time.Hour)
	for name, content := range c.written {
		must(t, os.Chtimes(filepath.Join(c.source, name), quiet, quiet))
		if b, err := os.ReadFile(filepath.Join(c.source, name)); err != nil || string(b) != content {
			t.Fatalf("the test itself has lost count of %s: %v", name, err)
		}
	}
	call(t, c.dir, "ingest", c.source)
	call(t, c.dir, "gc")
	call(t, c.dir, "verify", "--deep")
	back := restoredTree(t, c.dir)
	for name, content := range c.written {
		if back["runs/"+name] != content {
			t.Errorf("%s is restored as %d bytes, not %d", name, len(back["runs/"+name]), len(content))
		}
	}
	for source, l := range map[string]*leaky{"runs": kept, "elsewhere": foreign} {
		b, err := os.ReadFile(l.file)
		must(t, err)
		if got := back[source+"/"+awfTranscripts+"/"+filepath.Base(l.file)]; got != string(b) {
			t.Errorf("%s is restored as %d bytes, not %d", l.file, len(got), len(b))
		}
		for _, mark := range []string{l.marks[0], l.marks[len(l.marks)-1]} {
			if n := strings.Count(call(t, c.dir, "search", "--json", mark), "\n"); n != 1 {
				t.Errorf("%s is found %d times", mark, n)
			}
		}
	}
	var marks []string
	for name, content := range c.written {
		events := strings.Count(content, "\n")
		rows := decode[[]map[string]any](t, call(t, c.dir, "sql", "--json", "SELECT count(*) AS n FROM v_events e WHERE path = '"+name+
			"' AND version = (SELECT max(version) FROM v_files f WHERE f.source = e.source AND f.path = e.path)"))
		if n := rows[0]["n"]; n != float64(events) {
			marks = append(marks, fmt.Sprintf("%s has %v events, want %d", name, n, events))
		}
	}
	slices.Sort(marks)
	if len(marks) > 0 {
		t.Error(strings.Join(marks, "\n"))
	}
	if out := call(t, c.dir, "search", "--json", dead.marks[0]); out != "" {
		t.Errorf("a pruned run is found: %s", out)
	}
}
