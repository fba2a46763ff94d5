package index

// Kinds of facts about runs, which queries match with tag:, is:pinned and is:held. A run is named by its public id,
// which is the same on every machine. A null value takes a fact back.
const (
	// FactTag is a tag on a run. Key: RunFactKey of the run and the tag. Value: an object, {} at least.
	FactTag = "tag"
	// FactPin keeps a run whatever a policy says. Key: the run's id. Value: an object, {} at least.
	FactPin = "pin"
	// FactHold keeps a run until it expires. Key: RunFactKey of the run and the hold's name. Value: an object; its
	// "expires" is a time in RFC 3339, and without one the hold never ends.
	FactHold = "hold"
)

// FactReport is a saved report. Key: its name. Value: an object that package main reads.
const FactReport = "report"

// RunFactKey returns the key of a fact of which a run may have several. Run ids contain no slash; names may.
func RunFactKey(run, name string) string { return run + "/" + name }
