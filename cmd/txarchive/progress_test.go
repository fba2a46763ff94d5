package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

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
	m := &meter{began: time.Now(), width: 100, stream: &app{err: &screen}}
	step := func(n int64) {
		m.ingest(ingest.Progress{Stage: "store", Path: "a/\x1b[31mb", Files: n, TotalFiles: 10, Bytes: n << 20, TotalBytes: 10 << 20})
	}
	step(1)
	if m.output != nil {
		t.Error("progress is shown for what may be over at once")
	}
	m.began = m.began.Add(-time.Minute)
	deadline := time.Now().Add(5 * time.Second)
	for n := int64(1); !strings.Contains(screen.String(), "store a/b") && time.Now().Before(deadline); n = min(n+1, 9) {
		step(n)
		time.Sleep(20 * time.Millisecond)
	}
	m.stop()
	m.stop()
	if s := screen.String(); !strings.Contains(s, "store a/b") || !strings.Contains(s, "%") || !strings.Contains(s, "/s") || strings.Contains(s, "[31m") {
		t.Errorf("shown was %q", s)
	}
	var none *meter
	none.files("restore", "x", 1, 2) // nobody looks
	none.stop()
}

func TestNoMeterInPipe(t *testing.T) {
	if m := (&app{err: &bytes.Buffer{}, getenv: func(string) string { return "" }}).meter(); m != nil {
		t.Error("a pipe gets a progress bar")
	}
}
