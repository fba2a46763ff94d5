package index

// Kinds of facts about runs, which queries ask for with tag:, is:pinned and is:held. A run is named by its public id,
// which is the same on every machine. A fact whose value is null is taken back.
const (
	// FactTag is a tag on a run. Key: RunFactKey of the run and the tag. Value: an object, {} at least.
	FactTag = "tag"
	// FactPin keeps a run whatever a policy says. Key: the run's id. Value: an object, {} at least.
	FactPin = "pin"
	// FactHold keeps a run until it expires. Key: RunFactKey of the run and the hold's name. Value: an object; its
	// "expires" is a time in RFC 3339, and without one the hold never ends.
	FactHold = "hold"
)

// FactReport is a report that somebody gave a name. Key: the name. Value: an object that package main reads.
const FactReport = "report"

// RunFactKey is the key of a fact of which a run may have several. Ids of runs have no slash; names may.
func RunFactKey(run, name string) string { return run + "/" + name }
