package ingest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/ingest"
)

// TestDiscover looks for programs in a home directory. Files due for deletion, by the program's own setting, are reported until they are
// archived; a variable with a list of directories gives several places.
func TestDiscover(t *testing.T) {
	home := t.TempDir()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	put := func(name string, age int, content string) {
		file := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		at := now.AddDate(0, 0, -age)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	line := func(n int) string {
		return fmt.Sprintf(`{"type":"user","uuid":"u%d","parentUuid":null,"isSidechain":false,"sessionId":"0e000000-0000-4000-8000-%012d","timestamp":"2026-11-01T10:00:00Z","message":{"role":"user","content":"basket"}}`+"\n", n, n)
	}
	for n, age := range []int{29, 24, 22, 1} {
		put(fmt.Sprintf(".claude/projects/-home-ada/0e000000-0000-4000-8000-%012d.jsonl", n), age, line(n))
	}
	put("work/projects/-home-ada/0e000000-0000-4000-8000-000000000010.jsonl", 50, line(10))
	put("work/settings.json", 0, `{"cleanupPeriodDays":60}`)
	put("play/projects/-home-ada/0e000000-0000-4000-8000-000000000011.jsonl", 80, line(11))
	put("play/settings.json", 0, `{"cleanupPeriodDays":99}`)
	put(".gemini/settings.json", 0, `{"general":{"sessionRetention":{"maxAge":"2w"}}}`)
	put(".gemini/tmp/p/chats/session-1.json", 10, `{"sessionId":"s","projectHash":"p","messages":[]}`)

	w := newWorld(t)
	w.Ingester.Now = func() time.Time { return now }
	look := func(want string) {
		t.Helper()
		env := map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(home, "work") + "," + filepath.Join(home, "play", "projects")}
		found, err := w.Discover(t.Context(), ingest.Home{Dir: home, Env: func(name string) string { return env[name] }})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range found {
			rel, _ := filepath.Rel(home, f.Dir)
			got += fmt.Sprintf("%s %s files %d new %d risk %d\n", f.Name, filepath.ToSlash(rel), f.Files, f.NewFiles, f.RiskFiles)
		}
		if got != want {
			t.Errorf("found\n%s, want\n%s", got, want)
		}
	}
	look("claude-code .claude/projects files 4 new 4 risk 2\n" +
		"claude-code work/projects files 1 new 1 risk 0\n" +
		"claude-code play/projects files 1 new 1 risk 0\n" +
		"gemini-cli .gemini/tmp files 1 new 1 risk 1\n")
}

// TestDiscoverListed looks for projects that a program has listed: of another machine's home only those in it, and no project twice.
func TestDiscoverListed(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	for _, project := range []string{"home/shop", "srv/inn", "home/bare"} {
		newBase(s, project+"/.crush/crush.db", crushFirst).crushSession(crushA, nil)
	}
	s.remove("home/bare/.crush/crush.db")
	list := fmt.Sprintf(`{"projects":[{"path":%[1]q,"data_dir":".crush"},{"path":%[2]q,"data_dir":%[3]q},{"path":%[4]q,"data_dir":".crush"},{"path":"/nowhere","data_dir":".crush"},{"path":%[1]q,"data_dir":".crush"}]}`,
		s.dir+"/home/shop", s.dir+"/srv/inn", s.dir+"/srv/inn/.crush", s.dir+"/home/bare")
	s.write("home/.local/share/crush/projects.json", list)
	s.write("data/crush/projects.json", list)
	env := func(name string) string {
		return map[string]string{"XDG_DATA_HOME": filepath.Join(s.dir, "data")}[name]
	}
	look := func(home ingest.Home, want ...string) {
		t.Helper()
		found, err := w.Discover(t.Context(), home)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			rel, _ := filepath.Rel(s.dir, f.Dir)
			got = append(got, fmt.Sprintf("%s %s %d", f.Name, filepath.ToSlash(rel), f.Transcripts))
		}
		if !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	home := ingest.Home{Dir: filepath.Join(s.dir, "home"), Env: env}
	look(home, "crush home/shop/.crush 1", "crush srv/inn/.crush 1")
	home.Foreign = true
	look(home, "crush home/shop/.crush 1")
	s.write("home/.local/share/crush/projects.json", "{")
	home.Env = func(string) string { return "" }
	look(home)
}

// TestUnfollowed names places of this machine with files: none that a source has, had, or has a part of. An archive of other directories is not asked.
func TestUnfollowed(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	for file, content := range map[string]string{
		".claude/projects/-home-ada/0e000000-0000-4000-8000-000000000001.jsonl": "x\n", ".claude/plans/mend-the-rim.md": "# Rim\n",
		".claude/tasks/rim/1.json": `{"id":"1","subject":"mend the rim","description":"","status":"pending","blocks":[],"blockedBy":[]}`,
		".codex/history.jsonl":     `{"session_id":"019c1111-aaaa-7000-8000-000000000001","ts":1772614800,"text":"hello"}` + "\n",
	} {
		s.write(file, content)
	}
	look := func(want ...string) {
		t.Helper()
		found, err := w.Unfollowed(t.Context(), ingest.Home{Dir: s.dir, Env: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			rel, _ := filepath.Rel(s.dir, f.Dir)
			got = append(got, f.Name+" "+filepath.ToSlash(rel))
		}
		if !slices.Equal(got, want) {
			t.Errorf("unfollowed: %q, want %q", got, want)
		}
	}
	s.write("work/runs/a.jsonl", "x\n")
	if err := os.MkdirAll(filepath.Join(s.dir, ".claude", "todos"), 0o700); err != nil { // nothing is lost of a directory without files
		t.Fatal(err)
	}
	w.ingest("runs", filepath.Join(s.dir, "work", "runs"), ".")
	look() // no place is followed
	w.ingest("part", filepath.Join(s.dir, ".claude", "projects", "-home-ada"), ".")
	look("claude-code .claude/plans", "claude-code .claude/tasks", "codex .codex")
	w.ingest("plans", filepath.Join(s.dir, ".claude", "plans"), ".")
	look("claude-code .claude/tasks", "codex .codex")
}
