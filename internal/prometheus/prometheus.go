// Package prometheus writes figures in the text format that Prometheus and its node_exporter read
// (https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4). It supports gauges only, and opens
// neither files nor connections.
package prometheus

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Set is a list of metrics. The zero value is empty.
type Set struct {
	order   []string
	metrics map[string]*metric
}

type metric struct {
	help  string
	lines []string
}

// Label is a label of one sample.
type Label struct{ Name, Value string }

// Gauge adds a sample. Samples with the same name are written together, under the help text of the first.
func (s *Set) Gauge(name, help string, value float64, labels ...Label) {
	if s.metrics == nil {
		s.metrics = map[string]*metric{}
	}
	m := s.metrics[name]
	if m == nil {
		m = &metric{help: help}
		s.metrics[name] = m
		s.order = append(s.order, name)
	}
	var text strings.Builder
	text.WriteString(name)
	for i, l := range labels {
		text.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		text.WriteString(l.Name + `="` + escapeValue.Replace(strings.ToValidUTF8(l.Value, "\ufffd")) + `"`)
	}
	if len(labels) > 0 {
		text.WriteByte('}')
	}
	m.lines = append(m.lines, text.String()+" "+strconv.FormatFloat(value, 'g', -1, 64))
}

// Count is a Gauge of a whole number.
func (s *Set) Count(name, help string, n int64, labels ...Label) {
	s.Gauge(name, help, float64(n), labels...)
}

// Time is a Gauge of a time, in seconds since 1970. The zero time is left out.
func (s *Set) Time(name, help string, at time.Time, labels ...Label) {
	if !at.IsZero() {
		s.Gauge(name, help, float64(at.UnixMilli())/1000, labels...)
	}
}

// Flag is a Gauge of 1 or 0.
func (s *Set) Flag(name, help string, on bool, labels ...Label) {
	n := int64(0)
	if on {
		n = 1
	}
	s.Count(name, help, n, labels...)
}

// WriteTo writes all metrics.
func (s *Set) WriteTo(w io.Writer) (int64, error) {
	total := int64(0)
	for _, name := range s.order {
		m := s.metrics[name]
		n, err := fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n%s\n", name, escapeHelp.Replace(m.help), name, strings.Join(m.lines, "\n"))
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

var (
	escapeValue = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	escapeHelp  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
)
