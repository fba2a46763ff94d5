package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/txarchive/txarchive/internal/ingest"
)

// meter shows how far a long work is, with rate and time left, on one line of standard error and only on a terminal.
// It stays away from what is done within a second. A nil meter shows nothing.
type meter struct {
	a       *app
	width   int
	ink     ink
	began   time.Time
	ticking chan struct{} // closed by stop; nil until there is something to show

	mu    sync.Mutex // protects what follows
	now   state
	since time.Time // the stage began
	first int64     // what was done when it began
}

// state is how far a stage of the work is.
type state struct {
	stage, path string
	done, total int64 // total 0 is unknown
	bytes       bool  // they count bytes
}

const (
	patience = time.Second
	redrawn  = 200 * time.Millisecond
)

// meter returns one for standard error, nil when nobody looks or somebody asked for quiet.
func (a *app) meter() *meter {
	width, ok := terminal(a.err)
	if !ok || a.quiet || a.verbose || a.getenv("TERM") == "dumb" {
		return nil
	}
	return &meter{a: a, width: width, ink: ink{a.colored(a.err)}, began: time.Now()}
}

// ingesting takes the progress of an Ingester; nil where nobody looks.
func (m *meter) ingesting() func(ingest.Progress) {
	if m == nil {
		return nil
	}
	return m.ingest
}

func (m *meter) ingest(p ingest.Progress) {
	switch {
	case p.TotalBytes > 0 && p.Bytes >= p.TotalBytes:
		m.show(state{p.Stage, "read; finishing the index", p.Bytes, p.TotalBytes, true})
	case p.TotalBytes > 0:
		m.show(state{p.Stage, p.Path, p.Bytes, p.TotalBytes, true})
	case p.TotalFiles > 0:
		m.show(state{p.Stage, p.Path, p.Files, max(p.TotalFiles, p.Files), false})
	}
}

// files takes the progress of something that goes file by file, of nobody knows how many.
func (m *meter) files(stage, path string, done int64) { m.show(state{stage, path, done, 0, false}) }

// bytes takes the progress of something that reads so many bytes.
func (m *meter) bytes(stage string, done, total int64) { m.show(state{stage, "", done, total, true}) }

// reading is for what calls it with how many bytes are read; nil where nobody looks.
func (m *meter) reading(stage string) func(done, total int64) {
	if m == nil {
		return nil
	}
	return func(done, total int64) { m.bytes(stage, done, total) }
}

func (m *meter) show(s state) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.stage != m.now.stage {
		m.since, m.first = time.Now(), s.done
	}
	m.now = s
	if m.ticking == nil && time.Since(m.began) >= patience {
		m.ticking = make(chan struct{})
		go m.tick(m.ticking)
	}
}

// tick draws the line again and again: time goes on also when nothing is told.
func (m *meter) tick(stopped <-chan struct{}) {
	ticker := time.NewTicker(redrawn)
	defer ticker.Stop()
	for {
		m.mu.Lock()
		select {
		case <-stopped: // the line is gone for good
			m.mu.Unlock()
			return
		default:
		}
		fmt.Fprint(m.a.err, "\r"+m.line(time.Since(m.since))+"\x1b[K")
		m.mu.Unlock()
		select {
		case <-stopped:
			return
		case <-ticker.C:
		}
	}
}

// line says how far the stage is after so long, on one line of the terminal with room for the ^C of who has enough.
func (m *meter) line(took time.Duration) string {
	s := &m.now
	amount, rate := number(s.done), ""
	if s.total > 0 {
		amount += " of " + number(s.total)
	}
	if s.bytes {
		amount = size(s.done) + " of " + size(s.total)
	}
	parts := []string{s.stage}
	if s.total > 0 {
		parts = append(parts, fmt.Sprintf("%3d%%", min(100, 100*s.done/s.total)))
	}
	parts = append(parts, amount)
	if speed := float64(s.done-m.first) / took.Seconds(); speed >= 1 && took >= patience {
		if rate = number(int64(speed)) + "/s"; s.bytes {
			rate = size(int64(speed)) + "/s"
		}
		parts = append(parts, rate)
		if left := time.Duration(float64(s.total-s.done) / speed * float64(time.Second)); left > 0 {
			parts = append(parts, timeLeft(left))
		}
	}
	head := strings.Join(parts, "  ")
	room := m.width - 3 - widthOf(head) - 2
	if path := ending(line(s.path), room); path != "" {
		return m.ink.cyan(head) + "  " + m.ink.dim(path)
	}
	return m.ink.cyan(cut(head, m.width-3))
}

func timeLeft(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d left", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d left", s/60, s%60)
}

// ending is the end of a text that fits into a width; "" when next to nothing does.
func ending(s string, width int) string {
	const least = 8
	if width < least && widthOf(s) > width {
		return ""
	}
	return tail(s, width)
}

// stop takes the meter off the screen.
func (m *meter) stop() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ticking == nil {
		return
	}
	close(m.ticking)
	m.ticking, m.began = nil, time.Now()
	fmt.Fprint(m.a.err, "\r\x1b[K")
}
