package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one mistake in a policy.
type Error struct {
	Line, Column int // from 1
	Message      string
	Hint         string // what to write instead, or ""
}

// Error returns line, column and message. The caller prints the hint.
func (e *Error) Error() string { return fmt.Sprintf("policy:%d:%d: %s", e.Line, e.Column, e.Message) }

// Errors is every mistake of a policy in the order of the source. errors.As finds the first *Error in it.
type Errors []*Error

// Error returns one line per mistake.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the mistakes one by one.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

func (es Errors) sorted() Errors {
	slices.SortStableFunc(es, func(a, b *Error) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	return es
}
