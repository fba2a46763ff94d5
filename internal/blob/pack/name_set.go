package pack

// nameSet is a set of entry names that tar can extract into the same directory. The zero value is ready to use.
type nameSet struct{ files, dirs map[string]bool }

// add adds a name unless it conflicts with another: no name may occur twice, and none may be a directory of another. It reports
// whether it added the name, and appends to made the directories that are new with it.
func (s *nameSet) add(name string, made []string) ([]string, bool) {
	if s.files == nil {
		s.files, s.dirs = map[string]bool{}, map[string]bool{}
	}
	if s.files[name] || s.dirs[name] {
		return made, false
	}
	before := len(made)
	for dir := range parents(name) {
		if s.dirs[dir] {
			break // so are its parents
		}
		if s.files[dir] {
			s.remove(nil, made[before:])
			return made[:before], false
		}
		s.dirs[dir] = true
		made = append(made, dir)
	}
	s.files[name] = true
	return made, true
}

func (s *nameSet) remove(entries []Entry, dirs []string) {
	for _, entry := range entries {
		delete(s.files, entry.Name)
	}
	for _, dir := range dirs {
		delete(s.dirs, dir)
	}
}

func (s *nameSet) clear() {
	clear(s.files)
	clear(s.dirs)
}

// parents yields the directories above name, the nearest first.
func parents(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := len(name) - 1; i > 0; i-- {
			if name[i] == '/' && !yield(name[:i]) {
				return
			}
		}
	}
}
