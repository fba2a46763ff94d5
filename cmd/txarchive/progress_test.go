package main

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/txarchive/txarchive/internal/ingest"
)

// page is a screen that may be written to while it is read.
type page struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}

func TestMeter(t *testing.T) {
	var screen page
	m := &meter{began: time.Now(), width: 100, a: &app{err: &screen}}
	step := func(n int64) {
		m.ingest(ingest.Progress{Stage: "store", Path: "a/\x1b[31mb", Files: n, TotalFiles: 10, Bytes: n << 20, TotalBytes: 10 << 20})
	}
	step(1)
	if m.ticking != nil {
		t.Error("progress is shown for what may be over at once")
	}
	m.began = m.began.Add(-time.Minute)
	deadline := time.Now().Add(5 * time.Second)
	for n := int64(1); !strings.Contains(screen.String(), "store") && time.Now().Before(deadline); n = min(n+1, 9) {
		step(n)
		time.Sleep(20 * time.Millisecond)
	}
	m.stop()
	m.stop()
	s := screen.String()
	if !strings.Contains(s, "a/b") || !strings.Contains(s, "%") || strings.Contains(s, "[31m") || strings.Contains(s, "\n") || !strings.HasSuffix(s, "\r\x1b[K") {
		t.Errorf("shown was %q", s)
	}
	time.Sleep(2 * redrawn)
	if screen.String() != s {
		t.Errorf("after the end %q came", strings.TrimPrefix(screen.String(), s))
	}
	var none *meter
	none.files("restore", "x", 1) // nobody looks
	none.stop()
}

func TestIngestShowsProgress(t *testing.T) {
	source, _ := examples(t)
	var screen page
	a := newApp()
	a.archive, a.out, a.err = filepath.Join(t.TempDir(), "archive"), io.Discard, &screen
	store, err := a.create(t.Context())
	must(t, err)
	defer store.Close()
	m := &meter{began: time.Now().Add(-time.Minute), width: 100, a: a}
	_, err = bringIn(t.Context(), a, ingestOptions{}, store, m, []string{source})
	must(t, err)
	m.stop()
	if m.now.stage == "" || m.now.done == 0 {
		t.Errorf("the last that was to be shown is %+v", m.now)
	}
}

func TestMeterLine(t *testing.T) {
	long := "flow/swarm/runs/run-20261121/build/llm/数据库/implement-code-critic-claude.jsonl"
	for _, c := range []struct {
		s     state
		took  time.Duration
		width int
		want  string
	}{
		{state{"store", "a/b", 30 << 20, 60 << 20, true}, 10 * time.Second, 80, "store   50%  30 MiB of 60 MiB  3.0 MiB/s  0:10 left  a/b"},
		{state{"store", "a/b", 0, 60 << 20, true}, 10 * time.Second, 80, "store    0%  0 B of 60 MiB  a/b"},
		{state{"restore", long, 1200, 0, false}, time.Minute, 80, "restore  1,200  20/s  …21/build/llm/数据库/implement-code-critic-claude.jsonl"},
		{state{"restore", long, 1200, 0, false}, time.Minute, 60, "restore  1,200  20/s  …implement-code-critic-claude.jsonl"},
		{state{"verify", "", 1 << 30, 3 << 40, true}, time.Second, 80, "verify    0%  1.0 GiB of 3.0 TiB  1.0 GiB/s  51:11 left"},
		{state{"reindex", long, 5, 10, false}, 90 * time.Minute, 26, "reindex   50%  5 of 10"},
	} {
		m := &meter{now: c.s, width: c.width}
		got := m.line(c.took)
		if n := text.StringWidthWithoutEscSequences(got); n >= c.width {
			t.Errorf("%d of %d columns: %q", n, c.width, got)
		}
		if got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

func TestNoMeterInPipe(t *testing.T) {
	if m := (&app{err: &bytes.Buffer{}, getenv: func(string) string { return "" }}).meter(); m != nil {
		t.Error("a pipe gets a progress bar")
	}
}
