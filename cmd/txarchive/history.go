package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// history is what was typed into a shell. It is a file of its own below the user's state, private like the archive,
// and nothing depends on it: what goes wrong with it is left at that.
type history struct{ path string }

const (
	historyLines = 1000
	historySize  = 1 << 20
)

// openHistory finds the file of a name below $XDG_STATE_HOME, and shortens it when it has become long.
func (a *app) openHistory(name string) *history {
	dir := a.getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home := a.getenv("HOME")
		if !filepath.IsAbs(home) {
			return &history{}
		}
		dir = filepath.Join(home, ".local", "state")
	}
	h := &history{filepath.Join(dir, "txarchive", name)}
	if info, err := os.Stat(h.path); err == nil && info.Size() > historySize {
		if err := os.WriteFile(h.path, []byte(h.text()), 0o600); err != nil {
			a.log.Debug("shorten history", "path", h.path, "err", err)
		}
	}
	return h
}

// text is the last lines of the history.
func (h *history) text() string {
	f, err := os.Open(h.path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > historySize {
		if _, err := f.Seek(-historySize, io.SeekEnd); err != nil {
			return ""
		}
	}
	b, err := io.ReadAll(io.LimitReader(f, historySize))
	if err != nil {
		return ""
	}
	lines := strings.Split(string(bytes.TrimRight(bytes.ToValidUTF8(b, nil), "\n")), "\n")
	lines = lines[max(0, len(lines)-historyLines):]
	const longest = 4000 // the editor takes no longer ones
	var some []string
	for _, l := range lines {
		if l = line(l); l != "" && len(l) <= longest {
			some = append(some, l)
		}
	}
	if len(some) == 0 {
		return ""
	}
	return strings.Join(some, "\n") + "\n"
}

// add keeps one line. Each is written at once, so that two shells do not undo each other's.
func (h *history) add(s string) {
	if h.path == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	if err := f.Chmod(0o600); err != nil { // an older file may have been open to others
		return
	}
	_, _ = f.WriteString(strings.ReplaceAll(s, "\n", " ") + "\n")
}
