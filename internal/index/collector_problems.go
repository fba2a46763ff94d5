package index

import (
	"fmt"

	"github.com/txarchive/txarchive/internal/transcript"
)

// MostProblems is how many problems of a version are told one by one. The others are counted in one of kind MoreProblems, at the place
// of the first of them: an original of nothing but broken lines would have rows of fifty times its size.
const MostProblems = 10_000

// MoreProblems is the kind of the problem that stands for all beyond MostProblems. A parse that reaches the end of a version says it anew.
const MoreProblems = "more problems"

// problemCap gathers the problems of a version.
type problemCap struct {
	told int                 // one by one, indexed already or not
	more *transcript.Problem // stands for the others
	rest int64               // how many these are
}

// problem takes what could not be read. What is indexed already is only counted.
func (c *Collector) problem(p *transcript.Problem) {
	u := &c.problems
	switch {
	case u.told < MostProblems:
		u.told++
		if p.Origin.Offset >= c.out.From {
			c.out.Problems = append(c.out.Problems, p)
			c.out.Bytes += recordSize
		}
		return
	case u.more == nil:
		more := *p
		more.Kind = MoreProblems
		u.more = &more
	}
	u.rest++
}

// reportCapped ends a version with how many problems are not told one by one.
func (c *Collector) reportCapped() {
	u := &c.problems
	if u.more == nil {
		return
	}
	u.more.Reason = fmt.Sprintf("%d problems from here on, beyond the first %d of this file", u.rest, MostProblems)
	c.out.Problems, c.out.Unsaid = append(c.out.Problems, u.more), u.rest-1
}
