package ingest_test

import (
	"fmt"
	"testing"
)

// zencoderHeader is the header of a session, written at a second.
func zencoderHeader(id, parent, reason string, second int) string {
	return fmt.Sprintf(`{"id":%q,"parentId":%q,"creationReason":%q,"createdAt":"2026-09-01T08:00:00.000Z","updatedAt":"2026-09-01T08:00:%02d.000Z"}`, id, parent, reason, second) + "\n"
}

// zencoderTurn is a prompt and its answer.
func zencoderTurn(n int) string {
	return fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"mend basket %d"}],"createdAt":"2026-09-01T08:0%d:00.100Z"}`, n, n) + "\n" +
		fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"mended %d"}],"createdAt":"2026-09-01T08:0%d:01.200Z"}`, n, n) + "\n"
}

// TestLifeZencoder has a session that grows, whose header is written anew, and that goes on in another one.
func TestLifeZencoder(t *testing.T) {
	t.Parallel()
	l := newLife(t, "zencoder")
	const a, b = "5e000000-0000-4000-8000-00000000000a", "5e000000-0000-4000-8000-00000000000b"
	const dir = ".zencoder/sessions/"
	l.write(dir+a+".jsonl", zencoderHeader(a, "", "newChat", 1)+zencoderTurn(1))
	l.ingestAndCheck("begun", counts{runs: 1, conversations: 1, events: 2})
	l.append(dir+a+".jsonl", zencoderTurn(2))
	l.ingestAndCheck("grown", counts{runs: 1, conversations: 1, events: 4})
	l.write(dir+a+".jsonl", zencoderHeader(a, "", "newChat", 2)+zencoderTurn(1)+zencoderTurn(2)+zencoderTurn(3))
	l.ingestAndCheck("written anew", counts{runs: 1, conversations: 1, events: 6})
	l.checkFresh("written anew")
	l.write(dir+b+".jsonl", zencoderHeader(b, a, "directContinuation", 3)+zencoderTurn(3)+zencoderTurn(4))
	all := counts{runs: 2, conversations: 2, events: 8, links: 1}
	l.ingestAndCheck("gone on", all)
	l.checkFresh("gone on")
	l.checkCopy("laptop", all)
}
