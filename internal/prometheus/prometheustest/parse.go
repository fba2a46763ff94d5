// Package prometheustest parses the Prometheus text format, as strictly as it is documented, for tests.
package prometheustest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Sample is a line with a value.
type Sample struct {
	Name   string
	Labels map[string]string
	Value  float64
}

var (
	namePattern  = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*`)
	labelPattern = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*`)
)

// Parse parses a text and checks it more strictly than Prometheus does: every metric must have its help and its type before
// its samples, all in one place; no sample may occur twice; and the last line must end in a newline.
func Parse(text string) ([]Sample, error) {
	if !utf8.ValidString(text) || text != "" && !strings.HasSuffix(text, "\n") {
		return nil, fmt.Errorf("not UTF-8, or without an end of its last line")
	}
	var all []Sample
	seen, done, current, typed := map[string]bool{}, map[string]bool{}, "", false
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fail := func(why string) ([]Sample, error) { return nil, fmt.Errorf("line %d: %s: %q", i+1, why, line) }
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, help, _ := strings.Cut(rest, " ")
			if namePattern.FindString(name) != name || name == "" || done[name] || strings.TrimSpace(help) == "" {
				return fail("a wrong or a second help")
			}
			done[name], current, typed = true, name, false
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			if rest != current+" gauge" || typed {
				return fail("a type that does not follow its help")
			}
			typed = true
			continue
		}
		s, key, err := parseSample(line)
		if err != nil {
			return fail(err.Error())
		}
		if s.Name != current || !typed || seen[key] {
			return fail("a sample out of its place, or twice")
		}
		seen[key] = true
		all = append(all, s)
	}
	return all, nil
}

func parseSample(line string) (s Sample, key string, err error) {
	s = Sample{Name: namePattern.FindString(line), Labels: map[string]string{}}
	rest := line[len(s.Name):]
	if s.Name == "" {
		return s, "", fmt.Errorf("no name")
	}
	if strings.HasPrefix(rest, "{") {
		for {
			rest = rest[1:]
			name := labelPattern.FindString(rest)
			if _, twice := s.Labels[name]; name == "" || twice {
				return s, "", fmt.Errorf("a wrong label")
			}
			value, after, ok := parseValue(rest[len(name):])
			if !ok {
				return s, "", fmt.Errorf("a wrong value of label %s", name)
			}
			s.Labels[name], rest = value, after
			if strings.HasPrefix(rest, "}") {
				rest = rest[1:]
				break
			}
			if !strings.HasPrefix(rest, ",") {
				return s, "", fmt.Errorf("labels without an end")
			}
		}
	}
	key = line[:len(line)-len(rest)]
	number, ok := strings.CutPrefix(rest, " ")
	if !ok {
		return s, "", fmt.Errorf("no value")
	}
	s.Value, err = strconv.ParseFloat(number, 64)
	return s, key, err
}

// parseValue parses ="...". It accepts the three escapes of the format and no others.
func parseValue(text string) (value, rest string, ok bool) {
	text, ok = strings.CutPrefix(text, `="`)
	if !ok {
		return "", "", false
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:], true
		case c == '\\' && i+1 < len(text) && strings.IndexByte(`\"n`, text[i+1]) >= 0:
			i++
			b.WriteByte(map[byte]byte{'\\': '\\', '"': '"', 'n': '\n'}[text[i]])
		case c == '\\':
			return "", "", false
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}
