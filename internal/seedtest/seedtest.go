// Package seedtest gives tests that draw at random their seeds.
package seedtest

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
)

// variable has "random", or the seed that a test which failed has logged. Without it a test draws the same each time it is run, so that a
// change fails for what it changes. A soak draws at random.
const variable = "TEST_SEED"

var calls = struct {
	sync.Mutex
	of map[string]uint64 // by the name of the test
}{of: map[string]uint64{}}

// Seed returns a seed and logs it: another one for each call of a test, and the one that is given for the first.
func Seed(t testing.TB) uint64 {
	t.Helper()
	calls.Lock()
	n := calls.of[t.Name()]
	calls.of[t.Name()]++
	calls.Unlock()
	seed := choose(t, os.Getenv(variable), n)
	t.Logf("%s=%d", variable, seed)
	return seed
}

// Rand returns a source of numbers that begins with a Seed.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Seed(t), 0))
}

func choose(t testing.TB, given string, call uint64) uint64 {
	t.Helper()
	if given == "random" {
		return rand.Uint64()
	}
	var first uint64
	if given != "" {
		var err error
		if first, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("%s: %v", variable, err)
		}
		if call == 0 {
			return first
		}
	}
	h := fnv.New64a()
	h.Write([]byte(t.Name()))
	return rand.New(rand.NewPCG(h.Sum64()^first, call)).Uint64()
}
