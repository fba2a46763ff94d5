package sqlshell

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/txarchive/txarchive/internal/terminal"
)

// History is what was typed into shells, one entry a line, in a file that only its owner can read. It is a convenience: errors are ignored.
type History struct{ Path string } // "" keeps nothing

const (
	maxHistoryLines = 1000
	maxHistorySize  = 1 << 20 // bytes
	maxEntry        = 4000    // bytes; the editor takes no longer lines
)

// OpenHistory returns the history in a file. It shortens a file that has become too large; the error says that this has failed, and
// the history can be used all the same.
func OpenHistory(path string) (*History, error) {
	h := &History{path}
	info, err := os.Stat(path)
	if err != nil || info.Size() <= maxHistorySize {
		return h, nil
	}
	return h, os.WriteFile(path, []byte(h.Text()), 0o600)
}

// Text returns the last entries, each with a line feed.
func (h *History) Text() string {
	f, err := os.Open(h.Path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxHistorySize {
		if _, err := f.Seek(-maxHistorySize, io.SeekEnd); err != nil {
			return ""
		}
	}
	b, err := io.ReadAll(io.LimitReader(f, maxHistorySize))
	if err != nil {
		return ""
	}
	lines := strings.Split(string(bytes.TrimRight(bytes.ToValidUTF8(b, nil), "\n")), "\n")
	lines = lines[max(0, len(lines)-maxHistoryLines):]
	var entries []string
	for _, l := range lines {
		if l = terminal.OneLine(l); l != "" && len(l) <= maxEntry {
			entries = append(entries, l)
		}
	}
	if len(entries) == 0 {
		return ""
	}
	return strings.Join(entries, "\n") + "\n"
}

// Add appends an entry to the file at once, so that two shells do not overwrite each other's.
func (h *History) Add(s string) {
	if h.Path == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(h.Path), 0o700); err != nil {
		return
	}
	f, err := os.OpenFile(h.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	if err := f.Chmod(0o600); err != nil { // an older file may have been readable by others
		return
	}
	_, _ = f.WriteString(strings.ReplaceAll(s, "\n", " ") + "\n")
}
