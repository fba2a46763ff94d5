package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/txarchive/txarchive/internal/typo"
)

// maxSource bounds the size of a policy in bytes.
const maxSource = 1 << 20

// Parse parses and checks a policy. The error is Errors, with every mistake that could be found at once.
func Parse(src []byte) (*Policy, error) {
	root, err := document(src)
	if err != nil {
		return nil, Errors{err}
	}
	d := &decoder{p: &Policy{}}
	if root != nil {
		d.policy(root)
	}
	d.check()
	if len(d.errs) > 0 {
		return nil, d.errs.sorted()
	}
	return d.p, nil
}

// document returns the root node, nil for an empty source.
func document(src []byte) (*yaml.Node, *Error) {
	if len(src) > maxSource {
		return nil, &Error{Line: 1, Column: 1, Message: "the policy is larger than 1 MB"}
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, syntax(err)
	}
	switch err := dec.Decode(&more); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, syntax(err)
	default:
		return nil, &Error{max(1, more.Line), max(1, more.Column), "a second document begins here", "a policy is one YAML document"}
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return nil, nil
	}
	if root := doc.Content[0]; root.Kind != yaml.ScalarNode || root.Tag != "!!null" {
		return root, nil
	}
	return nil, nil
}

func syntax(err error) *Error {
	e := &Error{Line: 1, Column: 1, Message: strings.TrimPrefix(err.Error(), "yaml: ")}
	if le, ok := errors.AsType[*yaml.LoadError](err); ok {
		e.Message = le.Message
		if le.Mark.Line > 0 {
			e.Line, e.Column = le.Mark.Line, max(1, le.Mark.Column)
		}
	}
	return e
}

// decoder decodes YAML nodes and collects mistakes.
type decoder struct {
	p     *Policy
	nodes []ruleNodes // parallel to p.Rules: positions, for the checks
	errs  Errors
}

func (d *decoder) fail(n *yaml.Node, hint, format string, args ...any) {
	d.errs = append(d.errs, &Error{max(1, n.Line), max(1, n.Column), fmt.Sprintf(format, args...), hint})
}

// mapping calls the function of each key with its value and returns the key nodes.
func (d *decoder) mapping(n *yaml.Node, what string, keys map[string]func(*yaml.Node)) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		d.fail(n, "", "%s must be a mapping of keys to values", what)
		return nil
	}
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, known := keys[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || !known:
			names := slices.Sorted(maps.Keys(keys))
			hint := "known keys: " + strings.Join(names, ", ")
			if near := typo.Nearest(key.Value, names); near != "" {
				hint = "did you mean " + near + "?"
			}
			d.fail(key, hint, "unknown key %q in %s", key.Value, what)
		case seen[key.Value] != nil:
			d.fail(key, "", "duplicate key %q in %s (first in line %d)", key.Value, what, seen[key.Value].Line)
		case value.Kind == yaml.AliasNode:
			d.fail(value, "write the value out", "aliases are not supported")
		default:
			seen[key.Value] = key
			read(value)
		}
	}
	return seen
}

// items calls read for each element of a sequence.
func (d *decoder) items(n *yaml.Node, what string, read func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, "", "%s must be a list", what)
		return
	}
	for _, item := range n.Content {
		if item.Kind == yaml.AliasNode {
			d.fail(item, "write the value out", "aliases are not supported")
			continue
		}
		read(item)
	}
}

// text returns the value of a scalar.
func (d *decoder) text(n *yaml.Node, what string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		d.fail(n, "", "%s must be a single value", what)
		return "", false
	}
	return n.Value, true
}

func (d *decoder) word(n *yaml.Node, what string, known ...string) string {
	s, ok := d.text(n, what)
	if ok && !slices.Contains(known, s) {
		d.fail(n, "one of "+strings.Join(known, ", "), "%s cannot be %q", what, s)
	}
	return s
}

func (d *decoder) count(n *yaml.Node, what string) *int64 {
	s, ok := d.text(n, what)
	if !ok {
		return nil
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v < 0 {
		d.fail(n, "a whole number, 0 or more", "%s cannot be %q", what, s)
		return nil
	}
	return &v
}

func (d *decoder) duration(n *yaml.Node, what string) *time.Duration {
	return quantity(d, n, what, ParseDuration, hintDuration)
}

func (d *decoder) bytes(n *yaml.Node, what string) *int64 {
	return quantity(d, n, what, ParseBytes, hintSize)
}

// quantity parses the value of a scalar; it is nil if invalid.
func quantity[T any](d *decoder, n *yaml.Node, what string, parse func(string) (T, error), hint string) *T {
	s, ok := d.text(n, what)
	if !ok {
		return nil
	}
	v, err := parse(s)
	if err != nil {
		d.fail(n, hint, "%s: %v", what, err)
		return nil
	}
	return &v
}

const (
	hintDuration = "such as 30d, 12h or 2w; units s m h d w y"
	hintSize     = "such as 64KB, 1.5GB or 1MiB"
)
