package terminal

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// page is a screen that may be read while the meter writes to it.
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
	m := NewMeter(&screen, 100, Style{})
	step := func(n int64) {
		m.Show(Progress{"store", "a/\x1b[31mb", n << 20, 10 << 20, true})
	}
	step(1)
	if m.stopped != nil {
		t.Error("progress is shown for what may be over at once")
	}
	m.started = m.started.Add(-time.Minute)
	deadline := time.Now().Add(5 * time.Second)
	for n := int64(1); !strings.Contains(screen.String(), "store") && time.Now().Before(deadline); n = min(n+1, 9) {
		step(n)
		time.Sleep(20 * time.Millisecond)
	}
	m.Stop()
	m.Stop()
	s := screen.String()
	if !strings.Contains(s, "a/b") || !strings.Contains(s, "%") || strings.Contains(s, "[31m") || strings.Contains(s, "\n") || !strings.HasSuffix(s, "\r\x1b[K") {
		t.Errorf("shown was %q", s)
	}
	time.Sleep(2 * drawEvery)
	if screen.String() != s {
		t.Errorf("after the end %q came", strings.TrimPrefix(screen.String(), s))
	}
	var none *Meter
	none.Show(Progress{Stage: "restore", Path: "x", Done: 1}) // nobody looks
	none.Stop()
}

func TestMeterLine(t *testing.T) {
	long := "flow/swarm/runs/run-20261121/build/llm/数据库/implement-code-critic-claude.jsonl"
	for _, c := range []struct {
		s     Progress
		took  time.Duration
		width int
		want  string
	}{
		{Progress{"store", "a/b", 30 << 20, 60 << 20, true}, 10 * time.Second, 80, "store   50%  30 MiB of 60 MiB  3.0 MiB/s  0:10 left  a/b"},
		{Progress{"store", "a/b", 0, 60 << 20, true}, 10 * time.Second, 80, "store    0%  0 B of 60 MiB  a/b"},
		{Progress{"restore", long, 1200, 0, false}, time.Minute, 80, "restore  1,200  20/s  …21/build/llm/数据库/implement-code-critic-claude.jsonl"},
		{Progress{"restore", long, 1200, 0, false}, time.Minute, 60, "restore  1,200  20/s  …implement-code-critic-claude.jsonl"},
		{Progress{"verify", "", 1 << 30, 3 << 40, true}, time.Second, 80, "verify    0%  1.0 GiB of 3.0 TiB  1.0 GiB/s  51:11 left"},
		{Progress{"reindex", long, 5, 10, false}, 90 * time.Minute, 26, "reindex   50%  5 of 10"},
	} {
		m := &Meter{current: c.s, width: c.width}
		got := m.line(c.took)
		if n := Width(got); n >= c.width {
			t.Errorf("%d of %d columns: %q", n, c.width, got)
		}
		if got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}
