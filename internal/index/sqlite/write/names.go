package write

import "github.com/txarchive/txarchive/internal/index"

// names caches the ids of interned strings and scenes.
type names struct {
	ids     map[string]int64
	scenes  map[index.Labels]int64
	sayings map[*index.Labels]int64 // the same by pointer, for labels that rows share
}

func newNames() *names {
	return &names{ids: map[string]int64{}, scenes: map[index.Labels]int64{}, sayings: map[*index.Labels]int64{}}
}

// Name returns the id of an interned string, nil for "".
func (t *Tx) Name(s string) (any, error) {
	if s == "" {
		return nil, nil
	}
	return t.NameID(s)
}

// NameID returns the id of an interned string.
func (t *Tx) NameID(s string) (int64, error) {
	if id, ok := t.names.ids[s]; ok {
		return id, nil
	}
	var id int64
	ok, err := t.GetDirect("SELECT id FROM names WHERE name = ?", []any{s}, &id)
	if err != nil {
		return 0, err
	}
	if !ok {
		if id, err = t.NextID("names"); err != nil {
			return 0, err
		}
		if err := t.ExecDirect("INSERT INTO names (id, name) VALUES (?, ?)", id, s); err != nil {
			return 0, err
		}
	}
	t.names.ids[s] = id
	return id, nil
}

// Scene returns the id of the labels that a row shares with many others.
func (t *Tx) Scene(r *index.Row) (id int64, err error) {
	if id, ok := t.names.sayings[r.Labels]; ok {
		return id, nil
	}
	if id, err = t.sceneNamed(r.Labels); err == nil {
		t.names.sayings[r.Labels] = id
	}
	return id, err
}

func (t *Tx) sceneNamed(s *index.Labels) (id int64, err error) {
	if id, ok := t.names.scenes[*s]; ok {
		return id, nil
	}
	var args []any
	for _, name := range [...]string{string(s.Kind), s.Role, s.Type, s.Tool} {
		id := int64(0)
		if name != "" {
			if id, err = t.NameID(name); err != nil {
				return 0, err
			}
		}
		args = append(args, id)
	}
	if id, err = t.SceneOf(append(args, s.Agent, s.Model, s.Flow, s.Step)...); err == nil {
		t.names.scenes[*s] = id
	}
	return id, err
}

// SceneOf returns the id of the scene with these columns, and inserts one that is new.
func (t *Tx) SceneOf(columns ...any) (id int64, err error) {
	ok, err := t.GetDirect("SELECT id FROM scenes WHERE kind = ? AND role = ? AND type = ? AND tool = ? AND agent = ? AND model = ? AND flow = ? AND step = ?", columns, &id)
	if ok || err != nil {
		return id, err
	}
	if id, err = t.NextID("scenes"); err != nil {
		return 0, err
	}
	err = t.ExecDirect("INSERT INTO scenes (id, kind, role, type, tool, agent, model, flow, step) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", append([]any{id}, columns...)...)
	return id, err
}
