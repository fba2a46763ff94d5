package collect

import (
	"fmt"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// MaxProblems is how many problems of a version are listed one by one. The others are only counted, in one of kind
// index.MoreProblems at the place of the first of them: the rows of an original of nothing but broken lines would otherwise
// take fifty times its size.
const MaxProblems = 10_000

// problemCap counts the problems of a version.
type problemCap struct {
	listed   int                 // one by one, indexed already or not
	more     *transcript.Problem // stands for the others
	unlisted int64               // how many these are
}

// problem adds a problem. One that is indexed already is only counted.
func (c *Collector) problem(p *transcript.Problem) {
	u := &c.problems
	switch {
	case u.listed < MaxProblems:
		u.listed++
		if p.Origin.Offset >= c.out.From {
			c.out.Problems = append(c.out.Problems, p)
			c.out.Bytes += recordSize
		}
		return
	case u.more == nil:
		more := *p
		more.Kind = index.MoreProblems
		u.more = &more
	}
	u.unlisted++
}

// addProblemSummary adds the problem of kind MoreProblems at the end of a version.
func (c *Collector) addProblemSummary() {
	u := &c.problems
	if u.more == nil {
		return
	}
	u.more.Reason = fmt.Sprintf("%d problems from here on, beyond the first %d of this file", u.unlisted, MaxProblems)
	c.out.Problems, c.out.UnlistedProblems = append(c.out.Problems, u.more), u.unlisted-1
}
