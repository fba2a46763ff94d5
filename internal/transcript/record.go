package transcript

// Run is what one original says of a run: one execution or holder, the unit of retention. Several originals
// may speak of the same run (a transcript, a state file, an audit log); per field the statement with the
// highest Rank wins, then the newest version of an original, then the larger value. An original that says
// more of a run later yields the run again: set fields replace those it gave before.
type Run struct {
	// ID is the native id: a UUID, a directory name, a header key.
	ID string `json:",omitzero"`
	// Local says that ID is unique only below the root of its claim (a context called "default"): the
	// archive then tells runs apart by Anchor, and keeps two roots apart as long as neither states one.
	Local bool `json:",omitzero"`
	// Anchor is what this original knows of the run's creation (a time, a first entry id), such that the
	// smallest Anchor that any original of the root states is the run's own. Never a path. Only for Local.
	Anchor string `json:",omitzero"`
	// Anchored says that Anchor alone is the identity of a Local run: the ID may change (a renamed context).
	Anchored bool `json:",omitzero"`
	// Rank weighs this evidence against other originals': of each field the highest that states it is taken. Below 0 it is Hearsay.
	Rank int `json:",omitzero"`

	// Group is what runs are grouped by: a thread, a workflow, a project family. A run that is only Named and called as its Group tells what
	// the group is about: its Project is that of all runs of the group which state none.
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
	Stub    bool    `json:",omitzero"` // made by a stub engine: no model was asked
	Child   bool    `json:",omitzero"` // has a parent by construction (a sub-agent), so counted as no run of its own where the format says so

	// Named says that the run is only named here, by a link or a log line, and that this original alone does
	// not make it one of the runs that are counted.
	Named bool `json:",omitzero"`
	// Guess says that no line of the original tells yet whose it is: when it has grown it is read from its start.
	Guess bool `json:"-"`

	Attributes Attributes `json:",omitzero"`
}

// Hearsay is the Rank of what only tells again what others say of a run, as a history of all prompts does: one of those (Event.Retold) is
// a copy where a conversation of the run has it.
const Hearsay = -1

// Conversation is what one original says of one ordered stream of events of a run. It comes before the first
// event that names it, and may be yielded again with more fields set.
type Conversation struct {
	// ID is the native identity inside the run, "" when the run has only one. It never contains a path that
	// a copy of the file would change.
	ID string `json:",omitzero"`
	// Run is the native id of the run.
	Run string `json:",omitzero"`
	// Shared says that several originals together make this conversation (partitions of a log, a file per
	// message): their events are joined, ordered by Order and place, and told apart by Event.ID. Otherwise
	// each original holds the whole conversation, and of several that do one counts: the highest Rank, then
	// the newest version of a path, then the one with most events; the rest are versions or copies. A copy with Global
	// events that no other has went on by itself: it is a conversation beside the first.
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
	Child   bool   `json:",omitzero"` // a sub-agent's: counted as no run of its own where the format says so
	Silent  bool   `json:",omitzero"` // nobody says anything in it: its events count, and it is none of the conversations that do

	Attributes Attributes `json:",omitzero"`
}

// Event is one entry of a conversation, or a row that is searchable but uncounted.
type Event struct {
	// Conversation is the native conversation id. An uncounted event may belong to the run alone: then Run
	// is set and Conversation is "".
	Conversation string `json:",omitzero"`
	Run          string `json:",omitzero"`
	// ID is the native identity inside the conversation where the format has one that survives copying and
	// rewriting; two events of a conversation with one ID are one event, and what was said last counts (an uncounted
	// one takes the event back). "" means
	// that the place is the identity.
	ID string `json:",omitzero"`
	// Global says that ID is unique over all conversations of the format: where several hold it (a resumed or
	// forked session copies lines), one counts and the others are copied history. Home says that this
	// conversation is where the event was first written, as far as the original tells; a Home counts first. Events of
	// one original that share a Global ID are one entry: they count together.
	Global bool `json:",omitzero"`
	Home   bool `json:",omitzero"`
	// OrRole is the role that the event has instead of Role when the resolver says so (Family.Roles). Search finds the
	// event under both.
	OrRole  string  `json:",omitzero"`
	Verdict Verdict `json:",omitzero"` // "" is Counted; Uncounted for rows that stats leaves out; CopiedHistory where the original itself shows it
	// Retold is a prompt as a history of prompts has it that the producer keeps beside its transcripts (Hearsay): in either of the two.
	Retold string `json:",omitzero"`
	Kind   Kind   `json:",omitzero"`
	Role   string `json:",omitzero"` // user, assistant, system, tool, or as written
	Type   string `json:",omitzero"` // native type, as written
	Time   Time   `json:",omitzero"`
	Origin Origin `json:",omitzero"`
	// Seq is the native sequence number, kept as a fact. The order inside a conversation is the order in
	// which the parser yields its events.
	Seq Count `json:",omitzero"`

	// Parts are the pieces of an event that holds several (blocks of a message). Every event has at least
	// one; the first speaks for the event where one row must.
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
	// Text is what search finds: every string value of the piece, decoded, in the order of the original and
	// joined by newlines. Format.Text returns the same for the event's bytes.
	Text string `json:",omitzero"`
	// Offset and Length name the piece's own bytes relative to the event's Origin, when the original can
	// show it apart; both 0 otherwise.
	Offset int64 `json:",omitzero"`
	Length int64 `json:",omitzero"`

	Call   *Call   `json:",omitzero"` // for a tool call
	Result *Result `json:",omitzero"` // for a tool result
}

// Call is one invocation of a tool.
type Call struct {
	// ID is the native call id. Calls without one are given one by the parser when it pairs them by order
	// ("#1"); ID is then unique in the conversation.
	ID string `json:",omitzero"`
	// Key tells one call that two channels or files report from two calls: calls of a run with the same Key
	// are one, the one with the higher Rank counts. "" means that every call counts by itself.
	Key   string   `json:",omitzero"`
	Rank  int      `json:",omitzero"`
	Name  string   `json:",omitzero"`
	Input int64    `json:",omitzero"` // bytes of the input as written
	Paths []string `json:",omitzero"` // files that the input names, for touches:
}

// Result is what a call gave.
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

// True returns Yes or No.
func True(b bool) Truth {
	if b {
		return Yes
	}
	return No
}

// Usage is the tokens of one model request, or of the smallest unit that the format can tell apart (a step, a
// turn, a run). Token classes are disjoint: Input excludes what was read from or written to a cache,
// Reasoning is a part of Output.
type Usage struct {
	Run          string `json:",omitzero"`
	Conversation string `json:",omitzero"`
	// Key is the identity of the request over the whole archive, inside the format: of several usage records
	// with one Key exactly one counts, the highest Rank, then the newest version, then the first place. "" means that the
	// place is the identity.
	Key  string `json:",omitzero"`
	Rank int64  `json:",omitzero"`
	// Alias is a weaker identity that stands beside Key: a record whose Key is the Alias of a counted one is the
	// same request seen from aside, and that one counts whatever the ranks. "" means that there is none.
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

// Step is one step of a run as the producer tells it. A step that ends after it was first seen is yielded
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
	Rank         int        `json:",omitzero"` // as Run.Rank, when several originals tell of one step
	Origin       Origin     `json:",omitzero"`
	Attributes   Attributes `json:",omitzero"`
}

// End is one end of a link: a run, one of its conversations, a group, or an actor that is none of these. The
// archive resolves it when it holds what the end names; until then, and for ever where nothing does, the
// native ids stand.
type End struct {
	Type         string `json:",omitzero"` // run, conversation, group, actor
	ID           string `json:",omitzero"` // native id of the run, group or actor
	Conversation string `json:",omitzero"` // native id, for a conversation
}

// RunEnd is a run as an end of a link.
func RunEnd(id string) End { return End{Type: "run", ID: id} }

// Link is an edge between runs, conversations or groups. The same edge may be stated by both sides and often.
type Link struct {
	Kind string `json:",omitzero"` // parent, fork, resume, message, reference, depends, call
	From End    `json:",omitzero"` // parent, original, sender
	To   End    `json:",omitzero"` // child, copy, receiver
	ID   string `json:",omitzero"` // native id of the statement; the same statement in two originals is one
	// Event is the ID of the Global event that states it: a link of an event that is copied history does not
	// count. "" where the statement is nobody's to copy.
	Event      string     `json:",omitzero"`
	Time       Time       `json:",omitzero"`
	Origin     Origin     `json:",omitzero"`
	Uncounted  bool       `json:",omitzero"` // kept, but not one of the links that stats counts
	Attributes Attributes `json:",omitzero"`
}

// Hint is a key that only the format's Resolver understands: what one original knows that helps to name or
// judge another of the same run. It has no words of the transcript unless its key is "title" or begins so, with a space:
// those go when the original is pruned.
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
	// Sum is a checksum of the bytes that could not be read, 0 where there is none. Alone says that the run has no other
	// original than this one and copies of it: then the same bytes at the same place are one problem, also in copies that
	// are compressed or have grown since.
	Sum   int64 `json:"-"`
	Alone bool  `json:"-"`
}
