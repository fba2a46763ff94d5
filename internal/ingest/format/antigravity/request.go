package antigravity

import (
	"cmp"
	"strconv"
	"time"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// spent is what a step states of the request that it came from.
type spent struct {
	index      int64
	at         transcript.Time
	trajectory string
	model      string
	usage      []statement // of the request, and of its attempts
}

// statement is the tokens of a request, in one of the places that state them.
type statement struct {
	id     string // "" if it has none
	model  int64  // number
	tokens transcript.Usage
}

// requests is one parse of the requests of a conversation.
type requests struct {
	*parser
	trajectory string // the current one: it changes when the user goes back
	started    transcript.Time
	spent      []spent
	at         map[int64]int    // of spent, by the number of the step
	by         map[string]int   // of spent, by the ids of its requests
	names      map[int64]string // of models
	counted    map[string]bool  // ids of requests
}

// requests yields the records of the requests of a conversation.
func (p *parser) requests() {
	r := requests{parser: p, at: map[int64]int{}, by: map[string]int{}, names: map[int64]string{}, counted: map[string]bool{}}
	problem := func(pr *transcript.Problem) { p.Problem(p.run, pr) }
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", problem)) {
		p.lend.Reset()
		if !p.started {
			p.started = true
			p.Emit(&transcript.Run{ID: p.run, Named: true})
		}
		switch o.Value.Get("table").Word() {
		case tableTrajectory:
			r.about(o)
		case tableReference:
			r.reference(o)
		case tableSpent:
			r.noteSpent(o)
		case tableRequest:
			r.request(o)
		default:
			p.Problem(p.run, &transcript.Problem{Kind: "unknown table", Reason: "the row is of no table that is known", Origin: o.Origin})
		}
		for _, column := range []string{"data", "metadata"} {
			if o.Value.Get(column).IsString() {
				p.Problem(p.run, &transcript.Problem{Kind: "no protobuf", Reason: "the column " + column + " is no protobuf message; the row is kept as it is", Origin: o.Origin})
			}
		}
	}
	for i := range r.spent {
		for _, s := range r.spent[i].usage {
			r.emit(s, &r.spent[i], "", r.spent[i].at, "")
		}
	}
}

// about yields what is stated of the conversation.
func (r *requests) about(o jsontext.Object) {
	r.trajectory = o.Value.Get("trajectory_id").Str()
	data := o.Value.Get("data")
	if !r.started.Valid {
		r.started = data.Get("created_at").ProtobufTime()
	}
	run := &transcript.Run{ID: r.run, Named: true, Started: r.started, Project: projectIn(data)}
	parent := data.Get("parent_conversation_id").Str()
	run.Child = parent != "" && parent != r.run
	r.Emit(run)
	if run.Child {
		r.Emit(&transcript.Run{ID: parent, Named: true})
		r.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(parent), To: transcript.RunEnd(r.run), Origin: o.Origin})
	}
}

// projectIn returns the first directory that a conversation was about.
func projectIn(data jsontext.Value) string {
	for v := range data.Get("workspaces").Items() {
		if dir := format.FileURI(v.Get("workspace_folder_absolute_uri").Str()); dir != "" {
			return dir
		}
	}
	for v := range data.Get("workspace_uris").Items() {
		if dir := format.FileURI(v.Str()); dir != "" {
			return dir
		}
	}
	return ""
}

// Types of references to the conversation that this one was forked from, by the user or as a sub-agent's. Others are of the conversation itself.
const (
	referenceFork     = 2
	referenceSubagent = 6
)

// reference yields a link to the conversation that this one was forked from.
func (r *requests) reference(o jsontext.Object) {
	data := o.Value.Get("data")
	kind, _ := data.Get("reference_type").Int()
	of := data.Get("conversation_id").Str()
	if (kind == referenceFork || kind == referenceSubagent) && of != "" && of != r.run {
		r.Emit(&transcript.Run{ID: of, Named: true})
		r.Emit(&transcript.Link{Kind: "fork", From: transcript.RunEnd(of), To: transcript.RunEnd(r.run), Origin: o.Origin})
	}
}

// noteSpent keeps the time and the requests of a step.
func (r *requests) noteSpent(o jsontext.Object) {
	index, ok := o.Value.Get("idx").Int()
	if !ok {
		return
	}
	meta := o.Value.Get("metadata")
	s := spent{index: index, at: meta.Get("created_at").ProtobufTime(), trajectory: meta.Get("trajectory", "trajectory_id").Str(), model: modelOf(meta.Get("model_info"))}
	s.usage = statements(meta, "model_usage", o.Origin)
	r.at[index] = len(r.spent)
	for _, u := range s.usage {
		if u.id != "" {
			r.by[u.id] = len(r.spent)
		}
	}
	r.spent = append(r.spent, s)
}

// statements returns the tokens of a request and of its failed attempts. The list of attempts repeats the one that succeeded.
func statements(v jsontext.Value, member string, at transcript.Origin) (all []statement) {
	add := func(usage jsontext.Value) {
		if s := readStatement(usage); s.tokens.Rank > 0 && (len(all) == 0 || s.id != "" && s.id != all[0].id) {
			s.tokens.Origin = at
			all = append(all, s)
		}
	}
	add(v.Get(member))
	for one := range v.Get("retry_infos").Items() {
		add(one.Get("usage"))
	}
	return all
}

// readStatement reads tokens. A field that is 0 is not written.
func readStatement(v jsontext.Value) (s statement) {
	count := func(name string) int64 { return v.Get(name).Tokens().N }
	s.id = cmp.Or(v.Get("response_id").Str(), v.Get("provider_assigned_message_id").Str(), v.Get("message_id").Str())
	s.model, _ = v.Get("model").Int()
	input, output, written, read, thought := count("input_tokens"), count("output_tokens"), count("cache_write_tokens"), count("cache_read_tokens"), count("thinking_output_tokens")
	if output == 0 {
		output = thought + count("response_output_tokens")
	}
	s.tokens = transcript.Usage{
		Input: transcript.Known(input), Output: transcript.Known(output), CacheRead: transcript.Known(read), CacheWrite: transcript.Known(written), Rank: input + output + written + read,
	}
	if thought > 0 && thought <= output {
		s.tokens.Reasoning = transcript.Known(thought)
	}
	return s
}

// request yields what a request used. Its step has the time since summer 2026.
func (r *requests) request(o jsontext.Object) {
	chat := o.Value.Get("data", "chat_model")
	at := chat.Get("chat_start_metadata", "created_at").ProtobufTime()
	model := cmp.Or(chat.Get("model_display_name").Str(), chat.Get("response_model").Str(), chat.Get("response_model_full").Str())
	for _, s := range statements(chat, "usage", o.Origin) {
		if model != "" && s.model > 0 {
			r.names[s.model] = model
		}
		of := r.stepOf(s.id, o.Value.Get("data", "step_indices"))
		when := at
		if of != nil && of.at.Valid {
			when = of.at
		}
		r.emit(s, of, model, when, o.Value.Get("idx").Text())
	}
}

// stepOf returns the step that a request gave, nil if it is unknown.
func (r *requests) stepOf(id string, indices jsontext.Value) *spent {
	if i, ok := r.by[id]; ok && id != "" {
		return &r.spent[i]
	}
	for v := range indices.Items() {
		if n, ok := v.Int(); ok {
			if i, ok := r.at[n]; ok {
				return &r.spent[i]
			}
		}
		break
	}
	return nil
}

// knownModels are the numbers of models that have names of their own in the program, as far as it uses them beside the one that the user chose.
var knownModels = map[int64]string{246: "gemini-2.5-pro", 312: "gemini-2.5-flash", 330: "gemini-2.5-flash-lite"}

// emit yields a request, once: what only its step states has no place among the requests. One without an id that a step states is not
// told from a request, and does not count.
func (r *requests) emit(s statement, of *spent, model string, at transcript.Time, place string) {
	if s.id != "" && r.counted[s.id] {
		return
	}
	u := s.tokens
	u.Run, u.Conversation, u.Requests, u.Model, u.Time = r.run, r.run, transcript.Known(1), model, at
	if !u.Time.Valid {
		u.Time = r.started
	}
	switch {
	case s.id != "":
		r.counted[s.id] = true
		u.Key = "request " + s.id
	case place != "":
		u.Key = r.run + " request " + place
	default:
		u.Verdict = transcript.DerivedTotal
	}
	u.Rank = 0 // a fork has the requests of the conversation that it was forked from
	if of != nil {
		u.Model = cmp.Or(u.Model, of.model)
		u.Alias = stepKey(r.run, of.index, of.at)
		if of.trajectory != "" && of.trajectory == r.trajectory {
			u.Rank = 1
		}
	}
	u.Model = cmp.Or(u.Model, r.names[s.model], knownModels[s.model])
	r.Emit(&u)
}

// stepKey identifies the request that a step came from, in the log and in the database. The time tells it from that of the same step after the user
// went back.
func stepKey(run string, index int64, at transcript.Time) string {
	return run + " " + strconv.FormatInt(index, 10) + " " + time.UnixMicro(at.UnixMicro).UTC().Format(time.RFC3339)
}

// Resolve sets what only the database states of a conversation, and counts no request by a log that the database also has: in a fork neither may count.
func (antigravity) Resolve(f *transcript.Family) {
	for _, c := range f.Conversations {
		c.Project, c.Child = f.Run.Project, f.Run.Child
	}
	stored := map[string]bool{}
	for _, u := range f.Usage {
		stored[u.Alias] = u.Alias != ""
	}
	for _, u := range f.Usage {
		if u.Alias == "" && stored[u.Key] {
			u.Verdict = transcript.DuplicateOf
		}
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (antigravity) ResolvesUsage() {}

// meta yields the directory that the file beside a database states: that in which the server was started.
func (p *parser) meta() {
	doc, _ := p.Document(p.in.Reader, func(pr *transcript.Problem) { p.Problem(p.run, pr) })
	if dir := doc.Get("cwd").Str(); dir != "" {
		p.Emit(&transcript.Run{ID: p.run, Named: true, Rank: ranks[roleMeta], Project: dir})
	}
}
