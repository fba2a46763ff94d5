// Package all is the registry of the formats that this program knows, one line each. If two claims on a file have the same
// strength, the first format wins.
package all

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/aider"
	"github.com/txarchive/txarchive/internal/ingest/format/aiderdesk"
	"github.com/txarchive/txarchive/internal/ingest/format/aistudio"
	"github.com/txarchive/txarchive/internal/ingest/format/amazonqide"
	"github.com/txarchive/txarchive/internal/ingest/format/amp"
	"github.com/txarchive/txarchive/internal/ingest/format/antigravity"
	"github.com/txarchive/txarchive/internal/ingest/format/anythingllm"
	"github.com/txarchive/txarchive/internal/ingest/format/atif"
	"github.com/txarchive/txarchive/internal/ingest/format/auggie"
	"github.com/txarchive/txarchive/internal/ingest/format/autohand"
	"github.com/txarchive/txarchive/internal/ingest/format/awf"
	"github.com/txarchive/txarchive/internal/ingest/format/chatgpt"
	"github.com/txarchive/txarchive/internal/ingest/format/chatjsonl"
	"github.com/txarchive/txarchive/internal/ingest/format/chibi"
	"github.com/txarchive/txarchive/internal/ingest/format/claudeai"
	"github.com/txarchive/txarchive/internal/ingest/format/claudecode"
	"github.com/txarchive/txarchive/internal/ingest/format/cline"
	"github.com/txarchive/txarchive/internal/ingest/format/codebuddy"
	"github.com/txarchive/txarchive/internal/ingest/format/codebuff"
	"github.com/txarchive/txarchive/internal/ingest/format/codewhale"
	"github.com/txarchive/txarchive/internal/ingest/format/codex"
	"github.com/txarchive/txarchive/internal/ingest/format/commandcode"
	"github.com/txarchive/txarchive/internal/ingest/format/continuedev"
	"github.com/txarchive/txarchive/internal/ingest/format/copilotcli"
	"github.com/txarchive/txarchive/internal/ingest/format/copilotide"
	"github.com/txarchive/txarchive/internal/ingest/format/copilotvscode"
	"github.com/txarchive/txarchive/internal/ingest/format/cortexcode"
	"github.com/txarchive/txarchive/internal/ingest/format/crush"
	"github.com/txarchive/txarchive/internal/ingest/format/cursor"
	"github.com/txarchive/txarchive/internal/ingest/format/deepseek"
	"github.com/txarchive/txarchive/internal/ingest/format/devflow"
	"github.com/txarchive/txarchive/internal/ingest/format/devin"
	"github.com/txarchive/txarchive/internal/ingest/format/droid"
	"github.com/txarchive/txarchive/internal/ingest/format/flowstudio"
	"github.com/txarchive/txarchive/internal/ingest/format/forge"
	"github.com/txarchive/txarchive/internal/ingest/format/geminicli"
	"github.com/txarchive/txarchive/internal/ingest/format/googleadk"
	"github.com/txarchive/txarchive/internal/ingest/format/goose"
	"github.com/txarchive/txarchive/internal/ingest/format/gptme"
	"github.com/txarchive/txarchive/internal/ingest/format/grok"
	"github.com/txarchive/txarchive/internal/ingest/format/grokexport"
	"github.com/txarchive/txarchive/internal/ingest/format/hermes"
	"github.com/txarchive/txarchive/internal/ingest/format/ibmbob"
	"github.com/txarchive/txarchive/internal/ingest/format/inspect"
	"github.com/txarchive/txarchive/internal/ingest/format/jan"
	"github.com/txarchive/txarchive/internal/ingest/format/junie"
	"github.com/txarchive/txarchive/internal/ingest/format/kimi"
	"github.com/txarchive/txarchive/internal/ingest/format/kiro"
	"github.com/txarchive/txarchive/internal/ingest/format/langgraph"
	"github.com/txarchive/txarchive/internal/ingest/format/lechat"
	"github.com/txarchive/txarchive/internal/ingest/format/leslie"
	"github.com/txarchive/txarchive/internal/ingest/format/librechat"
	"github.com/txarchive/txarchive/internal/ingest/format/llmlogs"
	"github.com/txarchive/txarchive/internal/ingest/format/lmstudio"
	"github.com/txarchive/txarchive/internal/ingest/format/mux"
	"github.com/txarchive/txarchive/internal/ingest/format/neovate"
	"github.com/txarchive/txarchive/internal/ingest/format/ollama"
	"github.com/txarchive/txarchive/internal/ingest/format/openaiagents"
	"github.com/txarchive/txarchive/internal/ingest/format/openclaw"
	"github.com/txarchive/txarchive/internal/ingest/format/opencode"
	"github.com/txarchive/txarchive/internal/ingest/format/openhands"
	"github.com/txarchive/txarchive/internal/ingest/format/openwebui"
	"github.com/txarchive/txarchive/internal/ingest/format/pi"
	"github.com/txarchive/txarchive/internal/ingest/format/qwencode"
	"github.com/txarchive/txarchive/internal/ingest/format/reasonix"
	"github.com/txarchive/txarchive/internal/ingest/format/rovodev"
	"github.com/txarchive/txarchive/internal/ingest/format/shelley"
	"github.com/txarchive/txarchive/internal/ingest/format/sillytavern"
	"github.com/txarchive/txarchive/internal/ingest/format/strands"
	"github.com/txarchive/txarchive/internal/ingest/format/sweagent"
	"github.com/txarchive/txarchive/internal/ingest/format/vibe"
	"github.com/txarchive/txarchive/internal/ingest/format/warp"
	"github.com/txarchive/txarchive/internal/ingest/format/windsurf"
	"github.com/txarchive/txarchive/internal/ingest/format/zed"
	"github.com/txarchive/txarchive/internal/ingest/format/zencoder"
)

// ErrUnknown says that this program has no format of that name; a later version may have it.
var ErrUnknown = errors.New("unknown format")

// Formats returns every format.
func Formats() []format.Format {
	return []format.Format{
		awf.New(),
		flowstudio.New(),
		chibi.New(),
		leslie.New(),
		devflow.New(),
		codebuddy.New(), // before claude-code: both have files in projects/<project>, with some types of line in common
		claudecode.New(),
		codex.New(),
		geminicli.New(),
		antigravity.New(),
		copilotcli.New(),
		copilotvscode.New(copilotcli.New()),
		copilotide.New(),
		cline.New(),
		crush.New(), // before opencode: both know databases called opencode.db
		opencode.New(),
		qwencode.New(geminicli.New()),
		kimi.New(),
		chatgpt.New(),
		claudeai.New(),
		deepseek.New(),
		grokexport.New(),
		lechat.New(),
		aistudio.New(),
		openwebui.New(),
		commandcode.New(), // before openclaw and pi: its lines are theirs, with more in them
		openclaw.New(),
		pi.New(),
		cursor.New(),
		amp.New(),
		kiro.New(), // before continue: the editor's first sessions look like its
		amazonqide.New(),
		continuedev.New(),
		llmlogs.New(),
		ollama.New(),
		lmstudio.New(),
		jan.New(),
		anythingllm.New(),
		librechat.New(),
		sillytavern.New(),
		goose.New(),
		hermes.New(),
		vibe.New(),
		droid.New(),
		grok.New(),
		zed.New(),
		warp.New(),
		forge.New(),
		codebuff.New(),
		codewhale.New(),
		reasonix.New(),
		zencoder.New(),
		cortexcode.New(),
		rovodev.New(),
		shelley.New(),
		ibmbob.New(),
		neovate.New(),
		aiderdesk.New(),
		junie.New(),
		auggie.New(),
		autohand.New(),
		devin.New(), // before atif: its transcripts repeat what is in its database
		windsurf.New(),
		openhands.New(),
		mux.New(),
		gptme.New(),
		aider.New(),
		openaiagents.New(),
		googleadk.New(),
		langgraph.New(),
		strands.New(),
		atif.New(),
		sweagent.New(),
		inspect.New(),
		chatjsonl.New(),
	}
}

// Programs returns the names of the sources for which formats have default places, in registry order.
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

// Lookup returns the format with a name.
func Lookup(name string) (format.Format, bool) {
	f, ok := byName()[name]
	return f, ok
}

// Decode returns the text of one part of an event from the event's own bytes. The error is ErrUnknown if no format has the
// name, and a *format.Bug if the format panics.
func Decode(name, role string, raw []byte, part int) (string, error) {
	f, ok := Lookup(name)
	if !ok {
		return "", fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	return format.Text(f, role, raw, part)
}
