package openclaw

import (
	"bufio"
	"bytes"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/pi"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// coldDir is the directory in sessions to which OpenClaw moves old sessions from its database.
const coldDir = "cold"

// coldName matches the name of such a file, which is a hash.
var coldName = lazyregexp.New(`^[0-9a-f]{64}\.jsonl\.zst$`)

// coldEntry is where a line of the file has an entry, as a string. Lines without one repeat entries, for the database.
const coldEntry = "row.event_json"

// cold yields the records of a session that was moved out of the database: all of it, as it was there. Its first line names it.
func cold(in format.Input) iter.Seq2[transcript.Record, error] {
	rows := bufio.NewReaderSize(layer.Zstd(in.Reader), 4<<10)
	head, _ := rows.Peek(4 << 10) // what cannot be read is reported where it is read
	line, _, _ := bytes.Cut(head, []byte("\n"))
	header, _ := jsontext.ParsePrefix(line)
	s := fileName{session: header.Get("sessionId").Str()}.entries()
	s.Agent, s.Inner = agentOf(in.Path), "zstd+strings:"+coldEntry
	return pi.Parse(layer.Strings(rows, coldEntry), s)
}
