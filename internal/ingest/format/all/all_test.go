package all

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/format"
)

func TestRegistry(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	seen := map[string]bool{}
	for _, f := range Formats() {
		switch {
		case !name.MatchString(f.Name()):
			t.Errorf("name %q is no facet", f.Name())
		case seen[f.Name()]:
			t.Errorf("two formats are called %q", f.Name())
		case f.Version() < 1:
			t.Errorf("%s: version %d, want 1 or more: 0 is what was never parsed", f.Name(), f.Version())
		}
		seen[f.Name()] = true
		if got, ok := Lookup(f.Name()); !ok || got.Name() != f.Name() {
			t.Errorf("Lookup(%q) = %v, %v", f.Name(), got, ok)
		}
	}
	for _, name := range []string{"awf", "flow-studio", "chibi", "leslie", "devflow"} {
		if !seen[name] {
			t.Errorf("no format %q", name)
		}
	}
}

func TestDecodeUnknown(t *testing.T) {
	if _, err := Decode("none such", "", nil, 0); !errors.Is(err, ErrUnknown) {
		t.Errorf("error %v, want ErrUnknown", err)
	}
}

// TestDecodeOddParts asks for a part that no event has, as an altered index would: that is an error, not the end of the program.
func TestDecodeOddParts(t *testing.T) {
	for _, raw := range []string{"{}", `{"content": "hello"}`} {
		if text, err := Decode("chibi", "oldest", []byte(raw), -1); err == nil || text != "" {
			t.Errorf("part -1 of %s: %q, %v", raw, text, err)
		}
	}
}

// TestWithholders checks that Withholds reports exactly the files for which Detect sets Skip.
func TestWithholders(t *testing.T) {
	left := 0
	for _, p := range []string{"a/tasks/1/checkpoints/2/x.txt", "storage/session_share/x.json", "a/storage/share/y/x.json", "storage/share/x.ndjson", "mcp-oauth-config/x", "a/mcp-oauth-config.json",
		"config.json", "mcp-config.json", "a/b.json", "x", "models.json", "agents/main/agent/openclaw-agent.sqlite", "a.jsonl.lock", "auth-profiles.json",
		"User/globalStorage/state.vscdb", "state.vscdb.backup", "a/state.vscdb-wal", "p/mcp-auth.json", ".cursor/mcp.json", "cli-config.json", "io.datasette.llm/keys.json", "goose/secrets.yaml", "a/.crush/crush.json", ".continue/config.yaml", "a/.hermes/.env", ".hermes/profiles/b/auth.json", ".autohand/config.json",
		"CodeBuddyExtension/Data/Public/auth/x.info", "kiro-cli/data.sqlite3", "amazon-q/data.sqlite3-wal", "cache/kiro-auth-token.json", ".kiro/sessions/cli/x.lock", "warp-terminal/warp.sqlite-wal", "warp-oss/warp.sqlite", "dev.warp.Warp-Stable/dev.warp.Warp-User"} {
		for _, content := range []string{"", `{"copilot_tokens": 1}`, `{"mcpServers": {}}`, `{"providers": {"x": {"apiKey": 1}}}`, "SQLite format 3\x00"} {
			h := format.Head{Path: p, Size: int64(len(content)), Bytes: []byte(content)}
			for _, f := range Formats() {
				w, ok := f.(format.Withholder)
				withheld := ok && w.Withholds(h)
				if skip := f.Detect(h).Skip; skip != withheld {
					t.Errorf("%s, %s of %q: left out %v, withheld %v", f.Name(), p, content, skip, withheld)
				}
				if withheld {
					left++
				}
			}
		}
	}
	if left < 10 {
		t.Errorf("%d files are left out", left)
	}
}

// heads calls ask for the files of the cases of all formats, as they appear from any source root, with the folder of their
// format.
func heads(t *testing.T, ask func(folder, name string, h format.Head)) {
	asked := 0
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		folder, rest, _ := strings.Cut(strings.TrimPrefix(filepath.ToSlash(name), "../"), "/testdata/")
		_, inside, ok := strings.Cut(rest, "/in/")
		if err != nil || d.IsDir() || !ok {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for more := true; more; _, inside, more = strings.Cut(inside, "/") {
			asked++
			ask(folder, name, format.Head{Path: inside, Size: int64(len(content)), Bytes: content[:min(len(content), format.HeadSize)]})
		}
		return nil
	})
	if err != nil || asked < 100 {
		t.Errorf("%d files: %v", asked, err)
	}
}

// TestChatsAreNobodyElses: the format that claims anything that looks like a chat claims no file of another format, and no
// other format claims its files. Lists of Reasonix are chats like any other if the path does not show its home, and so are the lines of Autohand Code
// without the directory of a session.
func TestChatsAreNobodyElses(t *testing.T) {
	heads(t, func(folder, name string, h format.Head) {
		if folder == "reasonix" && !strings.Contains(h.Path, "reasonix/") || folder == "autohand" && !strings.Contains(h.Path, "sessions/") {
			return
		}
		best, taken := format.Claim{}, ""
		for _, f := range Formats() {
			if c := f.Detect(h); c.Strength > best.Strength || c.Skip {
				best, taken = c, f.Name()
			}
		}
		if taken != "" && (taken == "chat-jsonl") != (folder == "chatjsonl") {
			t.Errorf("%s claims %s of %s", taken, h.Path, name)
		}
	})
}

// TestNobodyElses: formats whose entries others write too claim no file of the other formats' cases, and vice versa.
func TestNobodyElses(t *testing.T) {
	shares := func(name string) bool {
		return name == "pi" || name == "openclaw" || name == "command-code" || name == "commandcode"
	}
	heads(t, func(folder, name string, h format.Head) {
		for _, f := range Formats() {
			if shares(f.Name()) == shares(folder) {
				continue
			}
			if c := f.Detect(h); c.Strength != format.None && !c.Skip {
				t.Errorf("%s claims %s of %s", f.Name(), h.Path, name)
			}
		}
	})
}

// TestCommandCodeIsNotPi: of the formats that know entries of sessions like Pi's, the one whose program wrote them gets each file.
func TestCommandCodeIsNotPi(t *testing.T) {
	heads(t, func(folder, name string, h format.Head) {
		best, taken := format.Claim{}, ""
		for _, f := range Formats() {
			if c := f.Detect(h); c.Strength > best.Strength {
				best, taken = c, f.Name()
			}
		}
		if (folder == "pi" || folder == "commandcode") && taken != "" && (taken == "command-code") != (folder == "commandcode") && strings.HasSuffix(name, ".jsonl") {
			t.Errorf("%s claims %s of %s", taken, h.Path, name)
		}
	})
}

// TestWherever: for the files of all cases below a home, the role of a file and the root of its format do not depend on
// what lies above.
func TestWherever(t *testing.T) {
	const home = "/home/ada/tree"
	heads(t, func(_, name string, h format.Head) {
		if !strings.HasSuffix(filepath.ToSlash(name), "/in/"+h.Path) {
			return
		}
		there := h
		there.Dir, there.Path = home, home+"/"+h.Path
		for _, f := range Formats() {
			claim, want := f.Detect(there), f.Detect(h)
			if claim.Root = index.RelPath(home, claim.Root); claim.Root == ".." { // no relative path shows it
				claim.Root = "."
			}
			if claim != want {
				t.Errorf("%s of %s:\n%+v, want\n%+v", f.Name(), name, claim, want)
			}
		}
	})
}
