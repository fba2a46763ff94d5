package main

import (
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/txarchive/txarchive/internal/ingest"
)

// meter shows how far a long work is, with rate and time left, on standard error and only on a terminal. It stays
// away from what is done within a second. A nil meter shows nothing.
type meter struct {
	mu      sync.Mutex
	began   time.Time
	width   int
	color   bool
	output  progress.Writer // nil until there is something to show
	current *progress.Tracker
	stage   string
	stream  *app
}

const patience = time.Second

// meter returns one for standard error, nil when nobody looks or somebody asked for quiet.
func (a *app) meter() *meter {
	width, ok := terminal(a.err)
	if !ok || a.quiet || a.verbose || a.getenv("TERM") == "dumb" {
		return nil
	}
	return &meter{began: time.Now(), width: width, color: a.colored(a.err), stream: a}
}

// ingest takes the progress of an Ingester.
func (m *meter) ingest(p ingest.Progress) {
	switch {
	case p.TotalBytes > 0 && p.Bytes >= p.TotalBytes:
		m.show(p.Stage, "read; finishing the index", p.Bytes, p.TotalBytes, progress.UnitsBytes)
	case p.TotalBytes > 0:
		m.show(p.Stage, p.Path, p.Bytes, p.TotalBytes, progress.UnitsBytes)
	case p.TotalFiles > 0:
		m.show(p.Stage, p.Path, p.Files, p.TotalFiles, progress.UnitsDefault)
	}
}

// files takes the progress of something that goes file by file. total 0 is unknown.
func (m *meter) files(stage, path string, done, total int64) {
	m.show(stage, path, done, total, progress.UnitsDefault)
}

// bytes takes the progress of something that reads so many bytes.
func (m *meter) bytes(stage string, done, total int64) {
	m.show(stage, "", done, total, progress.UnitsBytes)
}

func (m *meter) show(stage, path string, done, total int64, units progress.Units) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.output == nil {
		if time.Since(m.began) < patience {
			return
		}
		m.start()
	}
	if stage != m.stage || m.current == nil {
		if m.current != nil {
			m.current.MarkAsDone()
		}
		m.stage = stage
		m.current = &progress.Tracker{Message: stage, Total: total, Units: units, AutoStopDisabled: true, RemoveOnCompletion: true}
		m.output.AppendTracker(m.current)
	}
	m.current.UpdateMessage(cut(line(stage+"  "+path), m.message()))
	m.current.UpdateTotal(total)
	m.current.SetValue(done)
}

func (m *meter) start() {
	w := progress.NewWriter()
	w.SetOutputWriter(m.stream.err)
	w.SetAutoStop(false)
	w.SetTrackerPosition(progress.PositionRight)
	w.SetTrackerLength(max(8, m.width/10))
	w.SetMessageLength(m.message())
	w.SetTerminalWidth(m.width)
	w.SetUpdateFrequency(200 * time.Millisecond)
	style := progress.StyleBlocks
	style.Visibility = progress.StyleVisibility{ETA: true, Percentage: true, Speed: true, Time: true, Tracker: true, Value: true}
	style.Options.ETAString, style.Options.Separator = "ETA", " "
	style.Options.TimeInProgressPrecision, style.Options.ETAPrecision = time.Second, time.Second
	style.Options.PercentFormat = "%3.0f%%"
	if m.color {
		style.Colors = progress.StyleColors{Tracker: text.Colors{text.FgCyan}, Speed: text.Colors{text.Faint}}
	}
	w.SetStyle(style)
	m.output = w
	go w.Render()
}

// stop takes the meter off the screen.
func (m *meter) stop() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.output == nil {
		return
	}
	if m.current != nil {
		m.current.MarkAsDone()
	}
	m.output.Stop()
	for m.output.IsRenderInProgress() {
		time.Sleep(10 * time.Millisecond)
	}
	m.output, m.current = nil, nil
}

// message is how many columns the stage and the file get beside bar and numbers.
func (m *meter) message() int { return max(12, m.width-max(8, m.width/10)-50) }
