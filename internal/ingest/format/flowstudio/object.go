package flowstudio

import "github.com/txarchive/txarchive/internal/ingest/format"

// object is a JSON object whose members were looked up once: a line is asked for some thirty keys, and asking the
// raw value reads all of it each time, outputs of megabytes included.
type object struct {
	value   format.Value
	members []member
}

type member struct {
	key   string
	value format.Value
}

// open looks the members up; an object of no members for any other value.
func open(v format.Value) object {
	o := object{value: v}
	if v.IsObject() {
		o.members = make([]member, 0, 12)
	}
	for key, m := range v.Fields() {
		o.members = append(o.members, member{key, m})
	}
	return o
}

// get gives a member, nil where there is none. The last of several with one key wins, as in format.Value.Get.
func (o object) get(key string) format.Value {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].key == key {
			return o.members[i].value
		}
	}
	return format.Value{}
}

func (o object) str(key string) string { return o.get(key).Str() }

// first gives the first of several members that is stated.
func (o object) first(keys ...string) format.Value {
	for _, k := range keys {
		if m := o.get(k); !m.IsNull() {
			return m
		}
	}
	return format.Value{}
}
