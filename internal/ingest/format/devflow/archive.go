package devflow

import (
	"cmp"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// member is the parsed name of an archive member. Names are data: nothing is opened by them, and path elements that lead
// out of the archive are ignored.
type member struct {
	dir, role string
	below     string // of an artifact
}

// memberOf parses <run>/<file> and <run>/artifacts/<below>.
func memberOf(name string) member {
	var steps []string
	for _, step := range strings.Split(name, "/") {
		if step != "" && step != "." && step != ".." {
			steps = append(steps, step)
		}
	}
	switch {
	case len(steps) == 2:
		return member{dir: steps[0], role: roleOf(steps[1])}
	case len(steps) > 2 && steps[1] == "artifacts":
		m := member{dir: steps[0], role: roleArtifact, below: path.Join(steps[2:]...)}
		if strings.HasSuffix(m.below, ".gz") && steps[2] != "files" {
			m.role = roleArtifactGz
		}
		return m
	}
	return member{}
}

// parseArchive reads the runs in an archive. Of a torn one it reads what comes before the tear.
func parseArchive(r io.Reader, s *format.Sink) {
	runs := map[string][]*transcript.Run{}
	readMembers(r, &format.Sink{Yield: func(record transcript.Record, err error) bool {
		if run, ok := record.(*transcript.Run); ok {
			runs[run.ID] = append(runs[run.ID], run)
			return true
		}
		return forward(s, record, err)
	}})
	for _, id := range slices.Sorted(maps.Keys(runs)) {
		for _, run := range mergeRuns(runs[id]) {
			if s.Done() || !s.Emit(run) {
				return
			}
		}
	}
}

// mergeRuns orders what the members of one archive say about a run. A later record of one original replaces earlier ones,
// so the best comes last; and if any member makes it a counted run, records that merely name it are dropped.
func mergeRuns(runs []*transcript.Run) []*transcript.Run {
	slices.SortStableFunc(runs, func(a, b *transcript.Run) int { return cmp.Compare(a.Rank, b.Rank) })
	counted := slices.DeleteFunc(slices.Clone(runs), func(r *transcript.Run) bool { return r.Named })
	if len(counted) > 0 {
		return counted
	}
	return runs[:1]
}

func readMembers(r io.Reader, s *format.Sink) {
	seen := map[string]bool{}
	reported := false // a tear damages both a member and the archive: report it once
	pairs := &transcriptPairs{Sink: s, hasGzip: map[string]bool{}}
	defer pairs.flush()
	for file, err := range layer.TarFiles(layer.Gunzip(r)) {
		if err != nil && layer.IsContent(err) {
			if !reported {
				s.Emit(&transcript.Problem{Kind: contentKind(err), Reason: err.Error()})
			}
			return
		}
		if err != nil {
			s.Fail(err)
			return
		}
		m := memberOf(file.Name)
		if m.role == "" {
			continue
		}
		if seen[file.Name] {
			// A place in an archive is identified by the member's name, which opens the first member of that name.
			s.Emit(&transcript.Problem{Run: m.dir, Kind: "member twice", Reason: "an earlier member has the same name"})
			continue
		}
		seen[file.Name] = true
		p := &parser{Sink: pairs.sinkOf(m), inner: "gzip+tar:" + file.Name, dir: m.dir, archived: true}
		p.member(m, file)
		reported = p.broken
		if s.Done() {
			return
		}
	}
}

func (p *parser) member(m member, file layer.TarFile) {
	r := file.Reader
	if m.role == roleTranscriptGz || m.role == roleArtifactGz {
		p.inner, p.gzip = "gzip+tar+gzip:"+file.Name, true
		r = layer.Gunzip(r)
	}
	switch m.role {
	case roleTranscript, roleTranscriptGz:
		p.transcript(r)
	case roleMetadata:
		p.metadata(r)
	case roleArtifact, roleArtifactGz:
		p.artifact(m.below, r)
	}
}

// memberLayer returns the layer that still opens if the document's own compression is broken.
func memberLayer(inner string) string {
	if name, ok := strings.CutPrefix(inner, "gzip+tar+gzip:"); ok {
		return "gzip+tar:" + name
	}
	return ""
}

// transcriptPairs handles archives that contain both transcript.json and transcript.json.gz of a run: the .gz counts if it can be
// read, and the other is only searchable. So the records of a transcript.json are held back until the end of the archive.
type transcriptPairs struct {
	*format.Sink
	hasGzip  map[string]bool // directories with a readable transcript.json.gz
	heldBack []struct {
		dir    string
		record transcript.Record
	}
}

// sinkOf returns the sink for the records of a member.
func (t *transcriptPairs) sinkOf(m member) *format.Sink {
	switch m.role {
	case roleTranscriptGz:
		return &format.Sink{Yield: func(record transcript.Record, err error) bool {
			if _, ok := record.(*transcript.Conversation); ok {
				t.hasGzip[m.dir] = true
			}
			return forward(t.Sink, record, err)
		}}
	case roleTranscript:
		return &format.Sink{Yield: func(record transcript.Record, err error) bool {
			if err != nil {
				return forward(t.Sink, nil, err)
			}
			t.heldBack = append(t.heldBack, struct {
				dir    string
				record transcript.Record
			}{m.dir, record})
			return !t.Done()
		}}
	}
	return t.Sink
}

// forward passes a record or an error on to s.
func forward(s *format.Sink, record transcript.Record, err error) bool {
	if err != nil {
		s.Fail(err)
		return false
	}
	return s.Emit(record)
}

func (t *transcriptPairs) flush() {
	for _, h := range t.heldBack {
		if t.hasGzip[h.dir] {
			switch r := h.record.(type) {
			case *transcript.Conversation:
				continue
			case *transcript.Event:
				r.Verdict = transcript.Uncounted
			}
		}
		if !t.Emit(h.record) {
			return
		}
	}
}
