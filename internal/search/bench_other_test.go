//go:build !unix

package search_test

import "time"

// processor is not known here.
func processor() time.Duration { return 0 }
