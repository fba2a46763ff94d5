package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Meter shows the progress of a long task on one line of a terminal, with rate and time left. It draws nothing during the first
// second, so that short tasks show nothing. A nil Meter shows nothing. Its methods may be called concurrently.
type Meter struct {
	w       io.Writer
	width   int // of the terminal
	style   Style
	started time.Time     // the task, or the last Stop
	stopped chan struct{} // closed by Stop; nil while nothing is drawn

	mu           sync.Mutex // protects what follows
	current      Progress
	stageStarted time.Time // start of the stage
	stageFirst   int64     // what was done at its start
}

// Progress is how far a stage of a task is.
type Progress struct {
	Stage, Path string
	Done, Total int64 // total 0 is unknown
	Bytes       bool  // done and total count bytes
}

const (
	drawAfter = time.Second
	drawEvery = 200 * time.Millisecond
)

// NewMeter returns a meter that draws on w, which is a terminal of width columns.
func NewMeter(w io.Writer, width int, style Style) *Meter {
	return &Meter{w: w, width: width, style: style, started: time.Now()}
}

// Current returns what was shown last.
func (m *Meter) Current() Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.current
}

// ByteFunc returns a function that shows the progress of a stage in bytes; nil for a nil Meter.
func (m *Meter) ByteFunc(stage string) func(done, total int64) {
	if m == nil {
		return nil
	}
	return func(done, total int64) { m.Show(Progress{Stage: stage, Done: done, Total: total, Bytes: true}) }
}

// Show records progress, and begins to draw once the task has taken a second.
func (m *Meter) Show(s Progress) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.Stage != m.current.Stage {
		m.stageStarted, m.stageFirst = time.Now(), s.Done
	}
	m.current = s
	if m.stopped == nil && time.Since(m.started) >= drawAfter {
		m.stopped = make(chan struct{})
		go m.tick(m.stopped)
	}
}

// tick redraws the line until it is stopped, also while no progress is reported: the time left changes.
func (m *Meter) tick(stopped <-chan struct{}) {
	ticker := time.NewTicker(drawEvery)
	defer ticker.Stop()
	for {
		m.mu.Lock()
		select {
		case <-stopped: // and the line erased
			m.mu.Unlock()
			return
		default:
		}
		fmt.Fprint(m.w, "\r"+m.line(time.Since(m.stageStarted))+"\x1b[K")
		m.mu.Unlock()
		select {
		case <-stopped:
			return
		case <-ticker.C:
		}
	}
}

// line returns the line for a stage that has taken so long. It leaves three columns for the ^C of an interruption.
func (m *Meter) line(took time.Duration) string {
	s := &m.current
	amount, rate := Count(s.Done), ""
	if s.Total > 0 {
		amount += " of " + Count(s.Total)
	}
	if s.Bytes {
		amount = Bytes(s.Done) + " of " + Bytes(s.Total)
	}
	parts := []string{s.Stage}
	if s.Total > 0 {
		parts = append(parts, fmt.Sprintf("%3d%%", min(100, 100*s.Done/s.Total)))
	}
	parts = append(parts, amount)
	if speed := float64(s.Done-m.stageFirst) / took.Seconds(); speed >= 1 && took >= drawAfter {
		if rate = Count(int64(speed)) + "/s"; s.Bytes {
			rate = Bytes(int64(speed)) + "/s"
		}
		parts = append(parts, rate)
		if left := time.Duration(float64(s.Total-s.Done) / speed * float64(time.Second)); left > 0 {
			parts = append(parts, timeLeft(left))
		}
	}
	head := strings.Join(parts, "  ")
	if path := endOf(OneLine(s.Path), m.width-3-Width(head)-2); path != "" {
		return m.style.Cyan(head) + "  " + m.style.Dim(path)
	}
	return m.style.Cyan(Truncate(head, m.width-3))
}

func timeLeft(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d left", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d left", s/60, s%60)
}

// Stop erases the line. A later Show draws again, after a second.
func (m *Meter) Stop() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped == nil {
		return
	}
	close(m.stopped)
	m.stopped, m.started = nil, time.Now()
	fmt.Fprint(m.w, "\r\x1b[K")
}
