package transcript

// Family is all that the originals of one run state about things that only make sense together. A format's
// resolver gets it for every run that a commit touched, in an order that does not depend on when anything was
// archived, and edits names and verdicts in place; what it may set is said at each field.
type Family struct {
	Run *Run // as merged from all originals; read only

	// Conversations as their originals state them, one entry per original that holds (a part of) one; set
	// Title, Agent, Engine, Model, Flow, Step, Mode, Status, Project, Silent, Attributes, and Verdict where the whole original
	// counts for nothing (a window that repeats the log: DerivedTotal).
	Conversations []*FamilyConversation
	Receipts      []*Receipt // set Conversation
	Usage         []*Usage   // for formats that ask for it (format.UsageResolver); set Verdict, Conversation, Agent, Engine, Flow, Step, Model, Provider, Time
	Steps         []*Step    // set Conversation
	Hints         []*Hint    // read only
	// Roles may be set: who speaks in a message, by the native id that the IDs of its events begin with, up to a '/'. What
	// a resolver says goes before an event's own Role (see Event.OrRole).
	Roles map[string]string
	// Related has the hints of the runs that this one was forked from or is a child of, by native id; nil where the
	// archive does not hold them. Read only.
	Related map[string][]*Hint
}

// FamilyConversation is a conversation with what the index knows of it.
type FamilyConversation struct {
	Conversation
	Path    string // of the original in its source
	Verdict Verdict
	Events  int64 // counted events
	// CopiedUntil may be set: events and usage before this offset of the original are copied history.
	CopiedUntil int64
}
