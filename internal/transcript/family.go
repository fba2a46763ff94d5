package transcript

// Family is what a format's resolver works on: everything that the originals of one run state and that no original
// can decide alone. The resolver gets one Family for every run that a commit touched, in an order that does not depend
// on when anything was archived. It edits names and verdicts in place; each field says what may be set.
type Family struct {
	Run *Run // merged from all originals; read only

	// Conversations as their originals state them: one entry per original that holds a conversation or a part of it.
	// The resolver may set Title, Agent, Engine, Model, Flow, Step, Mode, Status, Project, Silent and Attributes, and
	// Verdict where nothing in the whole original counts (a window that repeats the log: DerivedTotal).
	Conversations []*FamilyConversation
	Receipts      []*Receipt // set Conversation
	Usage         []*Usage   // for formats that ask for it (format.UsageResolver); set Verdict, Conversation, Agent, Engine, Flow, Step, Model, Provider, Time
	Steps         []*Step    // set Conversation
	Hints         []*Hint    // read only
	// Roles may be set: the role of each message, keyed by its native id. A message's events are those whose ID begins
	// with that id, up to a '/'. A role set here overrides the event's own Role (see Event.OrRole).
	Roles map[string]string
	// Related holds the hints of the runs that this one was forked from or is a child of, by native run id; nil where
	// the archive does not hold them. Read only.
	Related map[string][]*Hint
}

// GreatestHints returns the greatest value of each key: one that does not depend on the order of the originals. Earlier versions of an original have
// hints, too: what a later one may state otherwise, as a title or a model, is to be taken from Run.
func (f *Family) GreatestHints() map[string]string {
	values := map[string]string{}
	for _, h := range f.Hints {
		values[h.Key] = max(values[h.Key], h.Value)
	}
	return values
}

// FamilyConversation is a conversation with what the index knows about it.
type FamilyConversation struct {
	Conversation
	Path    string // of the original in its source
	Verdict Verdict
	Events  int64 // counted events
	// Hints are those of Family.Hints that this original gives: places in it mean nothing in another one. Read only.
	Hints []*Hint
	// CopiedUntil may be set: events and usage before this offset of the original are copied history.
	CopiedUntil int64
}
