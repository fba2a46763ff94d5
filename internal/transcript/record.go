package transcript

// Run is what one original states about a run: one execution or holder, the unit of retention. Several originals
// may describe the same run (a transcript, a state file, an audit log); for each field the statement with the
// highest Rank wins, then the newest version of an original, then the larger value. An original that states
// more about a run further down yields the Run again: fields that are set replace those it stated before.
type Run struct {
	// ID is the native id: a UUID, a directory name, a header key.
	ID string `json:",omitzero"`
	// Local says that ID is unique only below the root of its claim (a context called "default"). The
	// archive then tells runs apart by Anchor, and treats two roots as different runs while neither states one.
	Local bool `json:",omitzero"`
	// Anchor is what this original knows about the run's creation (a time, a first entry id). The smallest Anchor
	// that any original of the root states is the run's own. Never a path. Only for Local runs.
	Anchor string `json:",omitzero"`
	// Anchored says that Anchor alone identifies a Local run: its ID may change (a renamed context).
	Anchored bool `json:",omitzero"`
	// Rank weighs this original against others that describe the run: each field is taken from the highest Rank that
	// states it. Negative is RankHistory.
	Rank int `json:",omitzero"`

	// Group is what runs are grouped by: a thread, a workflow, a project family. A run that is only Named and whose ID is
	// its Group describes the group: its Project becomes that of all runs of the group that state none.
	Group   string  `json:",omitzero"`
	Project string  `json:",omitzero"` // directory or repository the work was about
	Branch  string  `json:",omitzero"`
	Flow    string  `json:",omitzero"` // workflow or flow name
	Title   string  `json:",omitzero"`
	Agent   string  `json:",omitzero"` // program or persona that acted
	Model   string  `json:",omitzero"`
	Host    string  `json:",omitzero"`
	Version string  `json:",omitzero"` // version of the producer
	Status  string  `json:",omitzero"` // as written
	Outcome Outcome `json:",omitzero"`
	Error   string  `json:",omitzero"`
	Started Time    `json:",omitzero"`
	Ended   Time    `json:",omitzero"`
	Stub    bool    `json:",omitzero"` // made by a stub engine: no model was called
	Asked   bool    `json:",omitzero"` // a model was called: the run is no stub, even if an engine of some of its steps was
	Child   bool    `json:",omitzero"` // has a parent by construction (a sub-agent), so it is not counted as a run where the format says so

	// Named says that this original only names the run, in a link or a log line. A run that is only Named is
	// not counted.
	Named bool `json:",omitzero"`
	// Guess says that no line of the original names its run yet, so the ID is a guess. When the original has grown, it is
	// parsed from its start again.
	Guess bool `json:"-"`

	Attributes Attributes `json:",omitzero"`
}

// RankHistory is the Rank of an original that only repeats what others state, such as a producer's history of all
// prompts. A prompt in such an original (Event.Retold) is a copy if a conversation of the run has the same prompt.
const RankHistory = -1

// Conversation is what one original states about one ordered stream of events of a run. It is yielded before the first
// event that names it, and may be yielded again with more fields set.
type Conversation struct {
	// ID is the native id within the run, "" when the run has only one conversation. It never contains a path, which
	// a copy of the file would change.
	ID string `json:",omitzero"`
	// Run is the native id of the run.
	Run string `json:",omitzero"`
	// Shared says that several originals together make up this conversation (partitions of a log, a file per
	// message): their events are merged, ordered by Order and place, and identified by Event.ID; of what they state of
	// the conversation the last holds, and of those with a Rank the one with the highest. Otherwise
	// each original holds the whole conversation, and of several that do one counts: that with the highest Rank, then
	// the newest version of a path, then the one with most events; the rest are versions or copies. A copy with Global
	// events that no other original has was continued separately: it becomes a conversation of its own.
	Shared bool   `json:",omitzero"`
	Order  string `json:",omitzero"` // sorts the originals of a Shared conversation, bytewise
	Rank   int    `json:",omitzero"` // which original is preferred (0 lowest)

	Title   string `json:",omitzero"`
	Agent   string `json:",omitzero"`
	Engine  string `json:",omitzero"`
	Model   string `json:",omitzero"`
	Flow    string `json:",omitzero"`
	Step    string `json:",omitzero"`
	Mode    string `json:",omitzero"`
	Status  string `json:",omitzero"`
	Version string `json:",omitzero"` // version of the producer
	Project string `json:",omitzero"`
	Branch  string `json:",omitzero"`
	Started Time   `json:",omitzero"`
	Ended   Time   `json:",omitzero"`
	Child   bool   `json:",omitzero"` // of a sub-agent: not counted as a run where the format says so
	Silent  bool   `json:",omitzero"` // has no messages: its events count, the conversation itself does not

	Attributes Attributes `json:",omitzero"`
}

// Event is one entry of a conversation, or a row that can be searched but is not counted.
type Event struct {
	// Conversation is the native conversation id. An uncounted event may belong to the run alone: then Run
	// is set and Conversation is "".
	Conversation string `json:",omitzero"`
	Run          string `json:",omitzero"`
	// ID is the native id within the conversation, where the format has one that survives copying and rewriting.
	// Two events of a conversation with the same ID are one event, and the last one counts (an uncounted one retracts
	// the event). "" means that the event is identified by its place.
	ID string `json:",omitzero"`
	// Global says that ID is unique across all conversations of the format: where several hold it (a resumed or
	// forked session copies lines), one counts and the others are copied history. Home says that the event was
	// first written in this conversation, as far as the original shows; an event with Home is preferred. Events of
	// one original that share a Global ID are one entry: they count together.
	Global bool `json:",omitzero"`
	Home   bool `json:",omitzero"`
	// OrRole is a second role that the event may have: the resolver can replace Role with it (Family.Roles). Search finds
	// the event under both.
	OrRole  string  `json:",omitzero"`
	Verdict Verdict `json:",omitzero"` // "" is Counted; Uncounted for rows that stats leaves out; CopiedHistory where the original itself shows it
	// Retold is the user's prompt in the form in which the producer's prompt history records it (RankHistory). Events of
	// the history and of the conversations both set it, so that the index can match them.
	Retold string `json:",omitzero"`
	Kind   Kind   `json:",omitzero"`
	Role   string `json:",omitzero"` // user, assistant, system, tool, or as written
	Type   string `json:",omitzero"` // native type, as written
	Time   Time   `json:",omitzero"`
	Origin Origin `json:",omitzero"`
	// Seq is the native sequence number, kept as a fact. The order inside a conversation is the order in
	// which the parser yields its events.
	Seq Count `json:",omitzero"`

	// Parts are the pieces of the event, such as the blocks of a message. Every event has at least one; the first
	// represents the event where a single row is needed.
	Parts []Part `json:",omitzero"`

	Agent string `json:",omitzero"`
	Model string `json:",omitzero"`
	Flow  string `json:",omitzero"`
	Step  string `json:",omitzero"`

	Attributes Attributes `json:",omitzero"`
}

// Part is one piece of an event: a row of the index with a kind of its own.
type Part struct {
	Kind Kind   `json:",omitzero"` // "" is the event's
	Role string `json:",omitzero"` // "" is the event's
	// Text is the searchable text: every string value of the piece, decoded, in the order of the original and
	// joined by newlines. Format.Text returns the same text for the event's bytes.
	Text string `json:",omitzero"`
	// Offset and Length locate the piece's own bytes relative to the event's Origin, when they can be told apart
	// in the original; both are 0 otherwise.
	Offset int64 `json:",omitzero"`
	Length int64 `json:",omitzero"`

	Call   *Call   `json:",omitzero"` // for a tool call
	Result *Result `json:",omitzero"` // for a tool result
}

// Call is one invocation of a tool.
type Call struct {
	// ID is the native call id. Where there is none, a parser that pairs calls with results by their order assigns
	// one ("#1"); ID is then unique within the conversation.
	ID string `json:",omitzero"`
	// Key identifies a call that two channels or files may both report: calls of a run with the same Key
	// are one call, and the one with the higher Rank counts. "" means that every call counts by itself.
	Key   string   `json:",omitzero"`
	Rank  int      `json:",omitzero"`
	Name  string   `json:",omitzero"`
	Input int64    `json:",omitzero"` // bytes of the input as written
	Paths []string `json:",omitzero"` // files that the input names, for touches:
}

// Result is the result of a tool call.
type Result struct {
	Call     string `json:",omitzero"` // Call.ID
	Name     string `json:",omitzero"`
	Failed   Truth  `json:",omitzero"`
	Status   string `json:",omitzero"`
	Duration Count  `json:",omitzero"` // microseconds, where stated
	Output   int64  `json:",omitzero"` // bytes of the output as written
	Cut      bool   `json:",omitzero"` // the producer kept only a part
}

// Truth is a bool that may be unknown.
type Truth int8

// The values of a Truth.
const (
	Unstated Truth = iota
	No
	Yes
)

// OrNil returns whether it is so, nil if that is not stated.
func (t Truth) OrNil() *bool {
	if t == Unstated {
		return nil
	}
	return new(t == Yes)
}

// Not returns the opposite of what is stated.
func (t Truth) Not() Truth {
	switch t {
	case No:
		return Yes
	case Yes:
		return No
	}
	return Unstated
}

// True returns Yes or No.
func True(b bool) Truth {
	if b {
		return Yes
	}
	return No
}

// Usage is the token usage of one model request, or of the smallest unit for which the format reports it (a step, a
// turn, a run). Token classes are disjoint: Input excludes what was read from or written to a cache. The exception is
// Reasoning, which is a part of Output.
type Usage struct {
	Run          string `json:",omitzero"`
	Conversation string `json:",omitzero"`
	// Key identifies the request within the format, across the whole archive: of several usage records with the same
	// Key exactly one counts: the highest Rank, then the newest version, then the first place. "" means that the
	// record is identified by its place.
	Key  string `json:",omitzero"`
	Rank int64  `json:",omitzero"`
	// Alias is a second, weaker identity: a record whose Key is the Alias of a counted record reports the same request
	// from elsewhere, and the record with the Alias counts whatever the ranks. "" means that there is none.
	Alias   string  `json:",omitzero"`
	Verdict Verdict `json:",omitzero"` // "" is Counted; DerivedTotal, OutsideReceipt, CopiedHistory where the original itself shows it
	Time    Time    `json:",omitzero"`
	Origin  Origin  `json:",omitzero"`

	Model     string `json:",omitzero"`
	Provider  string `json:",omitzero"`
	Tier      string `json:",omitzero"` // service tier as written: standard, priority, flex, batch
	Speed     string `json:",omitzero"`
	Geo       string `json:",omitzero"` // inference region as written
	RequestID string `json:",omitzero"`

	Input        Count  `json:",omitzero"`
	Output       Count  `json:",omitzero"`
	CacheRead    Count  `json:",omitzero"`
	CacheWrite   Count  `json:",omitzero"` // 5 minutes, or not told apart
	CacheWrite1h Count  `json:",omitzero"`
	Reasoning    Count  `json:",omitzero"`
	Requests     Count  `json:",omitzero"`
	Cost         Count  `json:",omitzero"` // nano-USD as reported
	CostSource   string `json:",omitzero"` // field that reported it
	Estimated    bool   `json:",omitzero"`

	Agent      string     `json:",omitzero"`
	Engine     string     `json:",omitzero"`
	Flow       string     `json:",omitzero"`
	Step       string     `json:",omitzero"`
	Status     string     `json:",omitzero"`
	Outcome    Outcome    `json:",omitzero"`
	Receipt    string     `json:",omitzero"` // key of the receipt that states it
	Attributes Attributes `json:",omitzero"`
}

// Receipt is a structured record of what a step did and how it ended.
type Receipt struct {
	Run          string     `json:",omitzero"`
	Conversation string     `json:",omitzero"` // native id, when the receipt itself names the transcript
	Key          string     `json:",omitzero"` // identity inside the run
	Kind         string     `json:",omitzero"` // step, prompt, ...
	Flow         string     `json:",omitzero"`
	Step         string     `json:",omitzero"`
	Agent        string     `json:",omitzero"`
	Engine       string     `json:",omitzero"`
	Provider     string     `json:",omitzero"`
	Model        string     `json:",omitzero"`
	Mode         string     `json:",omitzero"`
	Status       string     `json:",omitzero"`
	Outcome      Outcome    `json:",omitzero"`
	Error        string     `json:",omitzero"`
	Started      Time       `json:",omitzero"`
	Ended        Time       `json:",omitzero"`
	Duration     Count      `json:",omitzero"` // microseconds
	Transcript   string     `json:",omitzero"`
	ToolCalls    Count      `json:",omitzero"` // as declared
	Stub         bool       `json:",omitzero"`
	Origin       Origin     `json:",omitzero"`
	Attributes   Attributes `json:",omitzero"`
}

// Step is one step of a run as the producer reports it. A step that ends later than it was first seen is yielded
// again with the same Key.
type Step struct {
	Run          string     `json:",omitzero"`
	Conversation string     `json:",omitzero"`
	Key          string     `json:",omitzero"` // identity inside the run
	Parent       string     `json:",omitzero"` // Key of the enclosing step
	Name         string     `json:",omitzero"`
	Kind         string     `json:",omitzero"`
	Path         string     `json:",omitzero"`
	Flow         string     `json:",omitzero"`
	Agent        string     `json:",omitzero"`
	Engine       string     `json:",omitzero"`
	Model        string     `json:",omitzero"`
	Iteration    Count      `json:",omitzero"`
	Attempt      Count      `json:",omitzero"`
	Status       string     `json:",omitzero"`
	Outcome      Outcome    `json:",omitzero"`
	Error        string     `json:",omitzero"`
	Started      Time       `json:",omitzero"`
	Ended        Time       `json:",omitzero"`
	Duration     Count      `json:",omitzero"` // microseconds
	ChildRun     string     `json:",omitzero"`
	Rank         int        `json:",omitzero"` // as Run.Rank, when several originals describe one step
	Origin       Origin     `json:",omitzero"`
	Attributes   Attributes `json:",omitzero"`
}

// End is one end of a link: a run, one of its conversations, a group, or an actor that is none of these. The
// archive resolves it once it holds what the End names; until then the native ids remain, possibly forever.
type End struct {
	Type         string `json:",omitzero"` // run, conversation, group, actor
	ID           string `json:",omitzero"` // native id of the run, group or actor
	Conversation string `json:",omitzero"` // native id, for a conversation
}

// RunEnd returns the End that is the run with the native id.
func RunEnd(id string) End { return End{Type: "run", ID: id} }

// Link is an edge between runs, conversations or groups. Both sides may state the same edge, and more than once.
type Link struct {
	Kind string `json:",omitzero"` // parent, fork, resume, message, reference, depends, call
	From End    `json:",omitzero"` // parent, original, sender
	To   End    `json:",omitzero"` // child, copy, receiver
	ID   string `json:",omitzero"` // native id of the statement; the same statement in two originals is one
	// Event is the ID of the Global event that states the link: if that event is copied history, the link does not
	// count. "" where the statement cannot be copied.
	Event      string     `json:",omitzero"`
	Time       Time       `json:",omitzero"`
	Origin     Origin     `json:",omitzero"`
	Uncounted  bool       `json:",omitzero"` // kept, but not one of the links that stats counts
	Attributes Attributes `json:",omitzero"`
}

// Hint is a key and value that only the format's Resolver understands: what one original knows that helps to name
// another original of the same run, or to decide its verdict. It holds no text of the transcript, unless its key is "title"
// or begins with "title ": such hints are deleted when the original is pruned.
type Hint struct {
	Run    string `json:",omitzero"`
	Key    string `json:",omitzero"`
	Value  string `json:",omitzero"`
	Origin Origin `json:",omitzero"`
}

// Problem is something in an original that could not be read. It is data, not an error.
type Problem struct {
	Run    string `json:",omitzero"` // where known
	Kind   string `json:",omitzero"` // short and stable: bad json, torn line, bad gzip, line too long, ...
	Reason string `json:",omitzero"` // for people, without content of the original
	Origin Origin `json:",omitzero"`
	// Sum is a checksum of the bytes that could not be read, 0 where there is none. Alone says that the run has no
	// originals besides this one and its copies: then the same bytes at the same place are one problem, also in copies
	// that are compressed or have grown since.
	Sum   int64 `json:"-"`
	Alone bool  `json:"-"`
}

// OriginOf returns the origin of a record, nil if it has none.
func OriginOf(r Record) *Origin {
	switch r := r.(type) {
	case *Event:
		return &r.Origin
	case *Usage:
		return &r.Origin
	case *Receipt:
		return &r.Origin
	case *Step:
		return &r.Origin
	case *Link:
		return &r.Origin
	case *Hint:
		return &r.Origin
	case *Problem:
		return &r.Origin
	}
	return nil
}
