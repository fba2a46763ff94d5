package devflow

import (
	"cmp"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// member is what the name of an archive's member says. Names are data: nothing is opened by them, and steps that
// lead out of the archive are ignored.
type member struct {
	dir, role string
	below     string // of an artifact
}

// memberOf reads <run>/<file> and <run>/artifacts/<below>.
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

// parseArchive reads the runs in an archive. What comes before a tear in it is read.
func parseArchive(r io.Reader, s *format.Sink) {
	runs := map[string][]*transcript.Run{}
	readMembers(r, &format.Sink{Yield: func(record transcript.Record, err error) bool {
		if run, ok := record.(*transcript.Run); ok {
			runs[run.ID] = append(runs[run.ID], run)
			return true
		}
		return hand(s, record, err)
	}})
	for _, id := range slices.Sorted(maps.Keys(runs)) {
		for _, run := range settle(runs[id]) {
			if s.Done() || !s.Emit(run) {
				return
			}
		}
	}
}

// settle orders what the members of one archive say of a run. What one original says later replaces what it said
// before, so the best comes last, and where one member makes it a run, none may just name it.
func settle(runs []*transcript.Run) []*transcript.Run {
	slices.SortStableFunc(runs, func(a, b *transcript.Run) int { return cmp.Compare(a.Rank, b.Rank) })
	counted := slices.DeleteFunc(slices.Clone(runs), func(r *transcript.Run) bool { return r.Named })
	if len(counted) > 0 {
		return counted
	}
	return runs[:1]
}

func readMembers(r io.Reader, s *format.Sink) {
	seen := map[string]bool{}
	told := false // a tear goes through a member as well as through the archive: one problem
	beside := &twins{Sink: s, packed: map[string]bool{}}
	defer beside.flush()
	for file, err := range format.TarFiles(format.Gunzip(r)) {
		if err != nil && format.IsContent(err) {
			if !told {
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
			// A place in an archive is named by its member, and the first of a name answers.
			s.Emit(&transcript.Problem{Run: m.dir, Kind: "member twice", Reason: "an earlier member has the same name"})
			continue
		}
		seen[file.Name] = true
		p := &parser{Sink: beside.sinkOf(m), inner: "gzip+tar:" + file.Name, dir: m.dir, archived: true}
		p.member(m, file)
		told = p.broken
		if s.Done() {
			return
		}
	}
}

func (p *parser) member(m member, file format.TarFile) {
	r := file.Reader
	if m.role == roleTranscriptGz || m.role == roleArtifactGz {
		p.inner, p.gzip = "gzip+tar+gzip:"+file.Name, true
		r = format.Gunzip(r)
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

// memberLayer is the layer that still opens when a document's own compression does not.
func memberLayer(inner string) string {
	if name, ok := strings.CutPrefix(inner, "gzip+tar+gzip:"); ok {
		return "gzip+tar:" + name
	}
	return ""
}

// twins keeps apart the transcript.json and the transcript.json.gz of one run, which an archive may have both: then the
// second counts, if it can be read, and the first is only searched. So a transcript.json waits for the end of the archive.
type twins struct {
	*format.Sink
	packed map[string]bool // directories whose transcript.json.gz has turns to tell
	held   []struct {
		dir    string
		record transcript.Record
	}
}

// sinkOf is where the records of a member go.
func (t *twins) sinkOf(m member) *format.Sink {
	switch m.role {
	case roleTranscriptGz:
		return &format.Sink{Yield: func(record transcript.Record, err error) bool {
			if _, ok := record.(*transcript.Conversation); ok {
				t.packed[m.dir] = true
			}
			return hand(t.Sink, record, err)
		}}
	case roleTranscript:
		return &format.Sink{Yield: func(record transcript.Record, err error) bool {
			if err != nil {
				return hand(t.Sink, nil, err)
			}
			t.held = append(t.held, struct {
				dir    string
				record transcript.Record
			}{m.dir, record})
			return !t.Done()
		}}
	}
	return t.Sink
}

// hand is what a sink before s yields to.
func hand(s *format.Sink, record transcript.Record, err error) bool {
	if err != nil {
		s.Fail(err)
		return false
	}
	return s.Emit(record)
}

func (t *twins) flush() {
	for _, h := range t.held {
		if t.packed[h.dir] {
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
