package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/failure"
)

// TestUndoWithoutPack: an undo does not take payloads for removed that are in a pack which is missing for a while. Once it is back, the undo brings
// them back.
func TestUndoWithoutPack(t *testing.T) {
	t.Parallel()
	source, dir := filepath.Join(t.TempDir(), "awf"), filepath.Join(t.TempDir(), "archive")
	file := filepath.Join(source, awfTranscripts[len("awf/"):], "00000001-0000-4000-8000-000000000001.jsonl")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	result := strings.NewReplacer(`"seq":0`, `"seq":1`, "message.user", "message.tool_result", `"type":"text","text":`, `"type":"tool_result","tool_use_id":"t1","content":`).
		Replace(saidInAWF(strings.Repeat("wombat ", 20000)))
	written(t, file, []byte(saidInAWF("quokka")+result))
	call(t, dir, "ingest", source)
	packs, err := filepath.Glob(filepath.Join(dir, "packs", "*", "*", "*"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	call(t, dir, "prune", "--query", "format:awf", "--thin", "payloads", "--allow-empty", "--yes")
	away := filepath.Join(t.TempDir(), "away")
	must(t, os.Rename(packs[0], away))
	tx(t, dir, failure.ExitCorrupt, "prune", "--undo")
	must(t, os.Rename(away, packs[0]))
	if out := call(t, dir, "prune", "--undo", "--json"); !strings.Contains(out, `"marked":0,`) {
		t.Errorf("the undo says %s", out)
	}
	call(t, dir, "verify", "--deep")
	back := filepath.Join(t.TempDir(), "back")
	call(t, dir, "restore", "--all", "--to", back)
	if got := string(filesIn(t, back)["awf/"+awfTranscripts[len("awf/"):]+"/"+filepath.Base(file)]); got != saidInAWF("quokka")+result {
		t.Errorf("%d bytes came back", len(got))
	}
}
