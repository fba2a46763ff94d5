// Package devflow reads the files that devflow keeps about its runs below a base directory (.devflow by default):
// transcripts and metadata as JSON, plain or gzip, the artifacts of a run, and the .tar.gz archives that old runs are moved
// into.
//
// Producer: devflow's transcript and artifact packages as of ADR-011; the layout was checked against writers, loader and
// files on 2026-11-20. Decided where its documents and code differ: of transcript.json.gz and transcript.json the first
// counts whatever its size, as in the program's loader, and a broken one yields to the other; the metadata inside a
// transcript is newer than metadata.json; the totals of a run count, the tokens of its turns are only listed.
//
// A run is identified by its runId, so a live directory, its archive and its restored directory are one run. A directory
// with nothing but artifacts is not a run. docs/formats/devflow.md has the details.
package devflow

import (
	"iter"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return devflow{} }

type devflow struct{}

// The roles of devflow's files.
const (
	roleTranscript   = "transcript"
	roleTranscriptGz = "transcript-gz"
	roleMetadata     = "metadata"
	roleArchive      = "archive"
	roleArtifact     = "artifact"
	roleArtifactGz   = "artifact-gz"
)

// Name is "devflow".
func (devflow) Name() string { return "devflow" }

// Version is the version of Parse.
func (devflow) Version() int { return 5 }

// Parse yields the records of one file. Documents are read whole, up to format.DocumentLimit each; an archive is streamed
// member by member.
func (devflow) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		s := &format.Sink{Yield: yield}
		p := &parser{Sink: s, dir: path.Base(path.Dir(in.Path))}
		if p.dir == "." || p.dir == "/" {
			p.dir = ""
		}
		switch in.Role {
		case roleTranscript:
			p.transcript(in.Reader)
		case roleTranscriptGz:
			p.inner, p.gzip = "gzip", true
			p.transcript(layer.Gunzip(in.Reader))
		case roleMetadata:
			p.metadata(in.Reader)
		case roleArtifact, roleArtifactGz:
			at, _ := locate(in.Path, in.Below())
			p.dir = at.dir
			if in.Role == roleArtifactGz {
				p.inner = "gzip"
				in.Reader = layer.Gunzip(in.Reader)
			}
			p.artifact(strings.Join(at.below, "/"), in.Reader)
		case roleArchive:
			parseArchive(in.Reader, s)
		}
	}
}

// parser reads one document: a file, or a member of an archive.
type parser struct {
	*format.Sink
	inner    string // layer that offsets refer to
	dir      string // name of the run's directory, "" if unknown
	archived bool
	gzip     bool
	broken   bool // the document's layers (gzip, tar) could not be read to the end
	ended    transcript.Time
}

// kind ranks transcripts by where they lie: a live directory before an archive, .gz before .json.
func (p *parser) kind() int {
	kind := 1
	if p.gzip {
		kind++
	}
	if !p.archived {
		kind += 2
	}
	return kind
}

// rank returns the Conversation.Rank of a transcript.
func (p *parser) rank() int { return p.rankOf(p.kind()) }

// transcriptRank returns the Run.Rank of a transcript: its metadata outranks every metadata.json, and that a mere path.
func (p *parser) transcriptRank() int { return p.rankOf(2 + p.kind()) }

func (p *parser) metadataRank() int {
	if p.archived {
		return p.rankOf(1)
	}
	return p.rankOf(2)
}

// rankOf ranks documents of one kind by the minute in which the run ended, as they state it: an older copy of the directory may
// lie elsewhere, from before the run was saved again. kind is at most 6, so it fits in an int of any size.
func (p *parser) rankOf(kind int) int {
	const bits = 28 // for minutes until 2480
	return kind<<bits + int(min(max(p.ended.UnixMicro/60e6, 0), 1<<bits-1))
}

// origin returns the place of a value that was parsed from the document b.
func (p *parser) origin(b []byte, v jsontext.Value) transcript.Origin {
	return transcript.Origin{Inner: p.inner, Offset: v.OffsetIn(b), Length: int64(v.Len())}
}
