package collect

import (
	"github.com/txarchive/txarchive/internal/index"
)

// facets has the values of a row that never change and are facets or Labels. Many rows have equal ones.
type facets struct {
	format string
	index.Labels
	orRole, agent, model string
	failed               bool
}

// labelTerms has the labels and the facets' term numbers of all rows with equal facets.
type labelTerms struct {
	index.Labels
	numbers []uint32
}

// maxLabelCache bounds Collector.labelCache. An original needs few entries, unless each row names a step of its own.
const maxLabelCache = 1 << 12

func (c *Collector) labels(f *facets) *labelTerms {
	if have := c.labelCache[*f]; have != nil {
		return have
	}
	b := make([]byte, 0, 96)
	add := func(field, value string) {
		if value == "" {
			return
		}
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = append(b, index.Facet(field, value)...)
	}
	add("format", f.format)
	add("kind", string(f.Kind))
	add("role", f.Role)
	add("role", f.orRole)
	add("type", f.Type)
	add("tool", f.Tool)
	add("agent", f.agent)
	add("model", f.model)
	if f.failed {
		add("is", "error")
	}
	if len(c.labelCache) == maxLabelCache {
		clear(c.labelCache)
	}
	made := &labelTerms{f.Labels, c.terms.Append(nil, b)}
	c.labelCache[*f] = made
	return made
}
