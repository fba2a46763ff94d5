package policy

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

//go:embed examples/*.yaml
var examples embed.FS

// Examples returns the names of the shipped policies, sorted.
func Examples() []string {
	files, _ := examples.ReadDir("examples") // embedded: cannot fail
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".yaml"))
	}
	return names
}

// Example returns the source of a shipped policy.
func Example(name string) ([]byte, error) {
	src, err := examples.ReadFile(path.Join("examples", name+".yaml"))
	if err != nil {
		return nil, fmt.Errorf("unknown example %q: use %s", name, strings.Join(Examples(), ", "))
	}
	return src, nil
}
