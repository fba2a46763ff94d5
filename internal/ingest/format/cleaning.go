package format

// Cleaner is a format whose program deletes files of its own accord.
type Cleaner interface {
	Cleanings() []Cleaning
}

// Cleaning is what a program deletes, as far as names and times of files tell: what it keeps for reasons that stand
// in files (tags, outcomes) is not known here. A unit goes when it is older than Days, or beyond the Keep newest of
// its group; with Both only when it is both.
type Cleaning struct {
	// Unit says what a file goes with, and which units are counted together. path is below the source's root, root is
	// the format's root that it lies in ("." for the source's own). unit "" is not cleaned.
	Unit func(path, root string) (group, unit string)
	Days int  // by the last change of any of its files; 0: age alone is no reason
	Keep int  // 0: the number alone is no reason
	Both bool // only what is old and beyond the newest goes
	// ByName counts the newest by the names of units; else by their last change.
	ByName bool
	// Setting is where the user says another number of Days; nil is nowhere.
	Setting *Setting
}

// Setting is a number in a JSON file of a program.
type Setting struct {
	Name string // of the file, which lies in the source's root or up to two directories above
	Key  string // of a number of days, or text like "30d" or "4w"; dots lead into objects: "general.sessionRetention.maxAge"
}
