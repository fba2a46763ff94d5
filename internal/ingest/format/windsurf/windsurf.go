// Package windsurf reads the transcripts that Windsurf (Devin Desktop) writes of conversations with Cascade, its agent, if its hook
// post_cascade_response_with_transcript is in use: ~/.windsurf/transcripts/<trajectory>.jsonl, one step per line.
//
// Producer: its source is closed. Its documentation (docs.windsurf.com and docs.devin.ai, page "Cascade Hooks", checked in November 2026) describes the
// place, the cap of 100 files, type, status and three types of steps, and says that steps may change. The other types are those of the one transcript of
// a real conversation that was published, a test case of git-ai (git-ai-project/git-ai, February 2026), as its reader and that of ranwhat (MatijaMiki/ranwhat,
// October 2026) take them; a third reader (momhq/mom) agrees on what it uses of run_command, list_directory and view_file. Types that only one reader
// names, or that none has seen in a file, are not taken for granted: grep_search_v2 and mcp_tool (mom), command_action. Layout and counting:
// docs/formats/windsurf.md.
//
// Cascade's own store, ~/.codeium/windsurf/cascade/<trajectory>.pb, is encrypted, and is not read.
//
// Identity: a transcript is a run with one conversation, called by its trajectory, which only the name of the file states. Steps have neither ids nor
// times: they are identified by their place. The program writes the whole transcript anew after each response; as long as what it wrote before is the
// same, the file has only grown.
package windsurf

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return windsurf{} }

type windsurf struct{}

var (
	_ format.Cleaner = windsurf{}
	_ format.Placed  = windsurf{}
)

// Name returns "windsurf".
func (windsurf) Name() string { return "windsurf" }

// Version counts changes of what Parse yields.
func (windsurf) Version() int { return 1 }

// roleTranscript is the role of the only kind of file.
const roleTranscript = "transcript"

// Places returns where the program writes transcripts, the same on every system.
func (windsurf) Places() []format.Place {
	return []format.Place{{Name: "windsurf", Path: "~/" + transcriptsDir, Deletes: "all but the newest 100 transcripts"}}
}

// Parse yields the records of one transcript.
func (windsurf) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue, Session: format.Stem(in.Path)}}
		p.EachRow(in.Reader, p.step)
		if p.Begun && !p.Done() {
			p.emitConversation()
		}
	}
}
