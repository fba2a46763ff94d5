// Package all is the registry: the formats that this program knows, one line each, in the order in which a tie
// between two claims is settled.
package all

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/aider"
	"github.com/txarchive/txarchive/internal/ingest/format/amp"
	"github.com/txarchive/txarchive/internal/ingest/format/awf"
	"github.com/txarchive/txarchive/internal/ingest/format/chatgpt"
	"github.com/txarchive/txarchive/internal/ingest/format/chatjsonl"
	"github.com/txarchive/txarchive/internal/ingest/format/chibi"
	"github.com/txarchive/txarchive/internal/ingest/format/claudeai"
	"github.com/txarchive/txarchive/internal/ingest/format/claudecode"
	"github.com/txarchive/txarchive/internal/ingest/format/cline"
	"github.com/txarchive/txarchive/internal/ingest/format/codex"
	"github.com/txarchive/txarchive/internal/ingest/format/copilotcli"
	"github.com/txarchive/txarchive/internal/ingest/format/copilotvscode"
	"github.com/txarchive/txarchive/internal/ingest/format/cursor"
	"github.com/txarchive/txarchive/internal/ingest/format/devflow"
	"github.com/txarchive/txarchive/internal/ingest/format/flowstudio"
	"github.com/txarchive/txarchive/internal/ingest/format/geminicli"
	"github.com/txarchive/txarchive/internal/ingest/format/goose"
	"github.com/txarchive/txarchive/internal/ingest/format/kimi"
	"github.com/txarchive/txarchive/internal/ingest/format/leslie"
	"github.com/txarchive/txarchive/internal/ingest/format/llmlogs"
	"github.com/txarchive/txarchive/internal/ingest/format/openclaw"
	"github.com/txarchive/txarchive/internal/ingest/format/opencode"
	"github.com/txarchive/txarchive/internal/ingest/format/pi"
	"github.com/txarchive/txarchive/internal/ingest/format/qwencode"
)

// ErrUnknown says that this program has no format of that name: a later one may have.
var ErrUnknown = errors.New("unknown format")

// Formats returns every format.
func Formats() []format.Format {
	return []format.Format{
		awf.New(),
		flowstudio.New(),
		chibi.Format{},
		leslie.Format{},
		devflow.Format{},
		claudecode.New(),
		codex.New(),
		geminicli.New(),
		copilotcli.New(),
		copilotvscode.New(copilotcli.New()),
		cline.New(),
		opencode.New(),
		qwencode.New(geminicli.New()),
		kimi.New(),
		chatgpt.New(),
		claudeai.New(),
		openclaw.New(),
		pi.New(),
		cursor.New(),
		amp.New(),
		llmlogs.New(),
		goose.New(),
		aider.New(),
		chatjsonl.New(),
	}
}

// Programs are the names of the sources that formats have places for, in the order of the registry.
func Programs() []string {
	var names []string
	for _, f := range Formats() {
		if placed, ok := f.(format.Placed); ok {
			for _, p := range placed.Places() {
				if !slices.Contains(names, p.Name) {
					names = append(names, p.Name)
				}
			}
		}
	}
	return names
}

var byName = sync.OnceValue(func() map[string]format.Format {
	m := map[string]format.Format{}
	for _, f := range Formats() {
		m[f.Name()] = f
	}
	return m
})

// Lookup returns the format of a name.
func Lookup(name string) (format.Format, bool) {
	f, ok := byName()[name]
	return f, ok
}

// Decode gives the text of one part of an event from the event's own bytes. ErrUnknown when no format has the name.
func Decode(name, role string, raw []byte, part int) (string, error) {
	f, ok := Lookup(name)
	if !ok {
		return "", fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	return f.Text(role, raw, part)
}
