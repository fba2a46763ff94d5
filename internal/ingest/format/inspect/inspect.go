// Package inspect reads the logs of evaluations that Inspect AI writes (inspect_ai, of the UK AI Security Institute): <time>_<task>_<id>.eval,
// a zip with a document for each sample, and <time>_<task>_<id>.json, one document with all samples.
//
// Producer: repository UKGovernmentBEIS/inspect_ai, checked on 2026-11-30 in the versions from 2024 to October 2026 of src/inspect_ai/log/_log.py,
// _condense.py and _recorders (eval.py, json.py, chunked/format.py), event/*.py, model/_chat_message.py and _model_output.py, _util/zipfile.py, and
// its pull requests 3341 and 3711 about tokens. docs/formats/inspect.md describes layout and counting.
//
// Identity: a run is one sample in one epoch, called by its uuid (since 0.3.70), else by the evaluation, the sample's id and the epoch. A log that
// retries another one has the samples that it did not repeat with their uuids: they are the same runs. The evaluation is their group.
//
// A .eval is stored as it is, and its files are layers of it: it must be restored byte for byte, and a zip cannot be made again from the files in it. It
// is read as a stream, so that one whose writer was killed still has its samples. A sample is read as a whole, since its last members say what
// its first mean: the uuid, and the texts that events only refer to (attachment://<hash>).
//
// Where sources disagree: until February 2026 input_tokens had what was read from the cache for some providers and not for others. total_tokens tells.
package inspect

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return inspect{} }

type inspect struct{}

// Name returns "inspect".
func (inspect) Name() string { return "inspect" }

// Version counts changes of what Parse yields.
func (inspect) Version() int { return 3 }

// The roles of the files.
const (
	roleEval = "eval" // a zip
	roleJSON = "json"
)

// Parse yields the records of one log.
func (inspect) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}}
		if in.Role == roleEval {
			p.zip(in.Reader)
		} else {
			p.document(in.Reader)
		}
		p.finish()
	}
}

// Text returns the text of one part of an event.
func (inspect) Text(_ string, raw []byte, _ int) (string, error) {
	return format.TextOf("a part of a sample", jsontext.WithoutNaN(raw), jsontext.Appended(appendText))
}

// parser parses one log.
type parser struct {
	format.Sink
	lend format.Lender

	// where the present document is
	inner string
	base  int64

	eval    evaluation
	samples int                 // so far
	spent   bool                // a sample states tokens, or may do so
	held    []transcript.Record // of the evaluation, until all samples are read

	overflow bool // there were more
}

func (p *parser) origin(v jsontext.Value) transcript.Origin {
	return transcript.Origin{Inner: p.inner, Offset: p.base + v.Offset(), Length: int64(v.Len())}
}

func (p *parser) problem(kind, reason string, at transcript.Origin) {
	at.Inner = p.inner
	p.Problem(p.eval.id, &transcript.Problem{Kind: kind, Reason: reason, Origin: at})
}
