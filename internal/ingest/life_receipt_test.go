package ingest_test

import "testing"

// TestReceiptVersions rewrites the receipt of a transcript: the index's verdict on the earlier versions does not depend
// on which of them counted when the transcript was ingested.
func TestReceiptVersions(t *testing.T) {
	const receipt, talk = "copy/old-run/build/receipts/fix-coder.json", "copy/old-run/build/llm/fix-coder-claude.jsonl"
	body := func(prompt string) string {
		return `{"engine":"claude-step","provider":"anthropic","step_id":"fix","flow_key":"build","run_id":"old-run","agent_key":"coder",` +
			`"started_at":"2026-11-20T10:00:01Z","status":"succeeded","tokens":{"prompt":` + prompt + `},"transcript_path":"llm/fix-coder-claude.jsonl"}`
	}
	s, w := newTree(t), newWorld(t)
	s.write(receipt, body("1"))
	w.ingest("flow", s.dir, ".")
	s.write(receipt, body("20"))
	s.write(talk, `{"timestamp":"2026-11-20T10:00:01Z","type":"user","role":"user","content":"hi"}`+"\n")
	w.ingest("flow", s.dir, ".")
	w.checkVersions("second", receipt, 0, body("1"), body("20"))
	s.write(receipt, body("300"))
	w.ingest("flow", s.dir, ".")
	w.checkVersions("third", receipt, 0, body("1"), body("20"), body("300"))
}
