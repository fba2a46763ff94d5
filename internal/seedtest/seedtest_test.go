package seedtest

import "testing"

// TestSeed expects the same seeds each time a test is run, others for other tests and calls, the given one first, and any at random.
func TestSeed(t *testing.T) {
	seen := map[uint64]string{}
	draw := func(t *testing.T, given string, call uint64) uint64 {
		seed := choose(t, given, call)
		if given != "random" && seed != choose(t, given, call) {
			t.Errorf("%q: another seed for call %d", given, call)
		}
		if before, ok := seen[seed]; ok {
			t.Errorf("%q, call %d: seed of %s", given, call, before)
		}
		seen[seed] = t.Name()
		return seed
	}
	for _, name := range []string{"one", "other"} {
		t.Run(name, func(t *testing.T) {
			for call := range uint64(3) {
				draw(t, "", call)
				draw(t, "random", call)
			}
			draw(t, "7", 1)
		})
	}
	if got := draw(t, "7", 0); got != 7 {
		t.Errorf("first seed is %d", got)
	}
	t.Setenv(variable, "5")
	if first, second := Seed(t), Seed(t); first != 5 || second == 5 {
		t.Errorf("seeds %d and %d", first, second)
	}
}
