package format

// Cleaner is a Format whose program deletes old files by itself.
type Cleaner interface {
	// Cleanings returns the rules by which the program deletes files.
	Cleanings() []Cleaning
}

// Cleaning is a rule by which a program deletes files, as far as names and times of files tell; exceptions that depend on the content of
// files (tags, outcomes) are not modelled. A unit is deleted when it is older than Days, or beyond the Keep newest of
// its group; with Both, only when both hold.
type Cleaning struct {
	// Unit returns the unit of files that a file is deleted with, and the group whose units Keep counts. path is relative to the source's
	// root; root is the format's root that the file is in ("." for the source's own). A file with the unit "" is not deleted.
	Unit func(path, root string) (group, unit string)
	Days int  // age by the latest modification time in the unit; 0: age is no reason
	Keep int  // 0: the number of units is no reason
	Both bool // both Days and Keep must be exceeded
	// ByName orders units by name, else by their latest modification time.
	ByName bool
	// Setting is where the user can change Days; nil if nowhere.
	Setting *Setting
}

// Setting is a number in a JSON file of a program.
type Setting struct {
	Name string // of the file, which is in the source's root or up to two directories above
	Key  string // of a number of days, or a string like "30d" or "4w"; dots separate the keys of nested objects: "general.sessionRetention.maxAge"
}
