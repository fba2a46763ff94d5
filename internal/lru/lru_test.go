package lru

import (
	"slices"
	"testing"
)

func TestMap(t *testing.T) {
	m := New[string, int](100)
	for i, step := range []struct {
		key     string
		value   int
		size    int64
		dropped []int
		total   int64
	}{
		{"a", 1, 40, nil, 40},
		{"b", 2, 40, nil, 80},
		{"a", 3, 50, []int{1}, 90},      // replaced, and now the last used
		{"c", 4, 30, []int{2}, 80},      // b was not used for longest
		{"d", 5, 101, []int{5}, 80},     // too large itself
		{"e", 6, 100, []int{3, 4}, 100}, // all others go
		{"e", 7, 101, []int{6, 7}, 0},   // what it replaces goes all the same
		{"f", 8, 1, nil, 1}, {"g", 9, 1, nil, 2},
	} {
		if dropped := m.Put(step.key, step.value, step.size); !slices.Equal(dropped, step.dropped) || m.Size() != step.total {
			t.Errorf("step %d dropped %v, and %d are left", i, dropped, m.Size())
		}
	}
	if v, ok := m.Get("f"); v != 8 || !ok {
		t.Errorf("f is %d, %v", v, ok)
	}
	if v, ok := m.Get("a"); ok {
		t.Errorf("a is still %d", v)
	}
	if dropped := m.Put("h", 10, 99); !slices.Equal(dropped, []int{9}) { // f was used since
		t.Errorf("the last dropped %v", dropped)
	}
	if dropped := m.Clear(); !slices.Equal(dropped, []int{8, 10}) || m.Size() != 0 {
		t.Errorf("cleared of %v, %d are left", dropped, m.Size())
	}
}
