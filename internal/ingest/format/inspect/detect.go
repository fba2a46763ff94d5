package inspect

import (
	"encoding/binary"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// logName is how logs are called unless somebody changes the pattern: a time, then task and id.
var logName = lazyregexp.New(`^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d([+-]\d\d-\d\d|Z)?_.+$`)

// Detect recognises a .eval by the name of the first file in it, and a .json by its first members. Nothing is claimed besides these files: logs lie in
// directories of users.
func (inspect) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	switch path.Ext(name) {
	case ".eval":
		if first := firstInZip(h.Bytes); placeOf(first) != "" || strings.HasPrefix(first, "_journal/") {
			return format.Claim{Strength: format.Certain, Role: roleEval}
		}
	case ".json":
		v, alone := jsontext.FirstElement(h.Bytes)
		if !alone || !isLog(v) {
			break
		}
		c := format.Claim{Strength: format.Likely, Role: roleJSON}
		if logName.MatchString(strings.TrimSuffix(name, ".json")) {
			c.Strength = format.Certain
		}
		return c
	}
	return format.Claim{}
}

// firstInZip returns the name of the first file in a zip.
func firstInZip(head []byte) string {
	const header = 30
	if len(head) < header || string(head[:4]) != "PK\x03\x04" {
		return ""
	}
	n := int(binary.LittleEndian.Uint16(head[26:]))
	return string(head[header:min(len(head), header+n)])
}

// isLog reports whether a document begins as a log does.
func isLog(v jsontext.Value) bool {
	eval := v.Get("eval")
	if _, ok := v.Get("version").Int(); !ok || !v.Get("status").IsString() || !eval.IsObject() {
		return false
	}
	return eval.Get("task").IsString() && eval.Get("created").IsString() && eval.First("run_id", "eval_id", "task_id").IsString()
}

// The places in a .eval.
const (
	placeHeader  = "header"
	placeSample  = "sample"
	placeChunked = "chunked" // the first of the files that a sample is split into
	placeOther   = "other"   // repeats what others have
)

// placeOf returns what a file in a .eval is, "" if it is none of them.
func placeOf(name string) string {
	switch name {
	case "_journal/start.json", "header.json", "start.json", "results.json": // the last two until January 2025
		return placeHeader
	case "summaries.json", "summary.json", "reductions.json":
		return placeOther
	}
	dir, file := path.Split(name)
	switch {
	case path.Ext(file) != ".json":
		return ""
	case dir == "samples/":
		return placeSample
	case strings.HasPrefix(dir, "samples/") && file == "sample.json":
		return placeChunked
	case strings.HasPrefix(dir, "samples/"), strings.HasPrefix(dir, "_journal/"), dir == "summaries/":
		return placeOther
	}
	return ""
}
