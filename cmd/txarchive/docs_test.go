package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const cliDoc = "../../docs/cli.md"

// commandsMark stands before the part of docs/cli.md that is made from the commands themselves.
const commandsMark = "## Commands\n"

// TestCLIDoc compares docs/cli.md with what the commands say of themselves; -update writes it again.
func TestCLIDoc(t *testing.T) {
	b, err := os.ReadFile(cliDoc)
	must(t, err)
	intro, _, ok := strings.Cut(string(b), commandsMark)
	if !ok {
		t.Fatalf("%s has no line %q", cliDoc, commandsMark)
	}
	var out strings.Builder
	out.WriteString(intro + commandsMark)
	root := newRootCommand(newApp(), "")
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "help" && cmd.Name() != "completion" && !cmd.Hidden {
			describeCommand(&out, cmd, "###")
		}
	}
	if out.String() == string(b) {
		return
	}
	if *update {
		must(t, os.WriteFile(cliDoc, []byte(out.String()), 0o644))
		return
	}
	t.Errorf("%s is not what the commands say of themselves: go test ./cmd/txarchive -run TestCLIDoc -update", cliDoc)
}

// TestFlagsNameValues holds help to names of values that say what goes there: --policy FILE, not --policy string, nor a word
// that only stood between backquotes, as pflag takes it.
func TestFlagsNameValues(t *testing.T) {
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		check := func(f *pflag.Flag) {
			value, _ := pflag.UnquoteUsage(f)
			if flag := f.Value.Type() == "bool"; flag != (value == "") || value != strings.ToUpper(value) || strings.Contains(value, " ") {
				t.Errorf("%s: --%s %s", cmd.CommandPath(), f.Name, value)
			}
		}
		cmd.LocalFlags().VisitAll(check)
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRootCommand(newApp(), ""))
}

func describeCommand(out *strings.Builder, cmd *cobra.Command, heading string) {
	fmt.Fprintf(out, "\n%s %s\n\n", heading, strings.TrimPrefix(cmd.CommandPath(), "txarchive "))
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	fmt.Fprintf(out, "%s\n\n```\n%s\n", text, cmd.UseLine())
	if flags := cmd.LocalFlags().FlagUsages(); flags != "" {
		fmt.Fprintf(out, "\n%s", flags)
	}
	out.WriteString("```\n")
	if cmd.Example != "" {
		fmt.Fprintf(out, "\nExamples:\n\n```\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n"))
	}
	for _, sub := range cmd.Commands() {
		describeCommand(out, sub, heading+"#")
	}
}

// TestReadme runs the commands that README.md shows the output of, and compares. Times and sizes of packs may differ.
func TestReadme(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	must(t, err)
	_, block, _ := strings.Cut(string(b), "prints, after the build:\n\n")
	block, _, _ = strings.Cut(block, "\n\n(")
	top := t.TempDir()
	var got strings.Builder
	for _, shown := range strings.Split(strings.ReplaceAll("\n"+block, "\n    ", "\n"), "\n./txarchive ")[1:] {
		command, _, _ := strings.Cut(shown, "\n")
		words := strings.Fields(strings.NewReplacer("demo-archive", top+"/archive", "demo-restored", top+"/restored").Replace(command))
		if i := strings.Index(command, "'"); i >= 0 {
			before := strings.Fields(strings.ReplaceAll(command[:i], "demo-archive", top+"/archive"))
			words = append(before, strings.Trim(command[i:], "'"))
		}
		if last := len(words) - 1; words[last] == "testdata/runs/*" {
			dirs, err := filepath.Glob(runs + "/*")
			must(t, err)
			words = append(words[:last], dirs...)
		}
		code, stdout, stderr := inside(t.Context(), "", "", words...)
		if code != 0 {
			t.Fatalf("%s: exit %d\n%s", command, code, stderr)
		}
		got.WriteString("./txarchive " + command + "\n" + stdout + stderr)
	}
	varying := regexp.MustCompile(`[0-9.]+(ms|µs|s)\b|[0-9.]+ KiB\), |[0-9,]+ rows`)
	same := func(s string) string {
		s = strings.ReplaceAll(strings.ReplaceAll(s, top+"/archive", "demo-archive"), top+"/restored", "demo-restored")
		return varying.ReplaceAllString(s, "N")
	}
	want := strings.TrimSuffix(strings.ReplaceAll("\n"+block, "\n    ", "\n")[1:], "demo-restored is testdata/runs, byte for byte")
	if same(got.String()) != same(want) {
		t.Errorf("the program prints\n%s\nREADME.md has\n%s", got.String(), want)
	}
}

// TestNamedPages looks for every page that a text of the program names.
func TestNamedPages(t *testing.T) {
	files, err := filepath.Glob("*.go")
	must(t, err)
	found := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		must(t, err)
		for _, m := range regexp.MustCompile(`docs/([a-z/-]+)\.md`).FindAllSubmatch(source, -1) {
			found++
			if name := string(m[1]); !slices.Contains(pageNames(), name) {
				t.Errorf("%s names docs/%s.md", file, name)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d pages are named", found)
	}
}

var (
	namedTest = regexp.MustCompile("`(Test[A-Za-z]+)`")
	testFunc  = regexp.MustCompile(`(?m)^func (Test[A-Za-z]+)\(`)
)

// TestTestsExist looks for the tests that documents appeal to.
func TestTestsExist(t *testing.T) {
	there, named := map[string]bool{"TestReadFile": true}, map[string]string{} // an example of a name
	must(t, filepath.WalkDir("../..", func(path string, _ os.DirEntry, err error) error {
		ext := filepath.Ext(path)
		if err != nil || ext != ".md" && !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range testFunc.FindAllSubmatch(b, -1) {
			there[string(m[1])] = true
		}
		if ext == ".md" {
			for _, m := range namedTest.FindAllSubmatch(b, -1) {
				named[string(m[1])] = path
			}
		}
		return err
	}))
	if len(named) < 20 {
		t.Errorf("documents name %d tests", len(named))
	}
	for name, path := range named {
		if !there[name] {
			t.Errorf("%s: there is no %s", path, name)
		}
	}
}
