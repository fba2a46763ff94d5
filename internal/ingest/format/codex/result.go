package codex

import (
	"bytes"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// result returns the result of a call.
func (p *parser) result(e *transcript.Event, it item) *transcript.Result {
	r := &transcript.Result{Call: it.callID.Str(), Status: it.status.Str(), Output: int64(it.output.Len())}
	r.Name = p.calls[r.Call]
	switch {
	case it.outputJSON.IsObject():
		readOutcome(r, it.outputJSON)
	case it.output.IsString() && !it.outputJSON.Exists():
		readHeader(r, it.output)
	}
	if r.Name == "spawn_agent" {
		if id := it.outputJSON.Get("agent_id").Str(); id != "" && id != p.thread {
			p.begin(&e.Origin)
			p.link("parent", p.thread, id, e.Origin, true)
		}
	}
	return r
}

// readOutcome reads {"content", "success"} and {"output", "metadata": {"exit_code", "duration_seconds"}}.
func readOutcome(r *transcript.Result, v jsontext.Value) {
	for key, m := range v.Fields() {
		switch key {
		case "success":
			if ok := m.Bool(); ok != transcript.Unstated {
				r.Failed = ok.Not()
			}
		case "isError", "is_error":
			r.Failed = m.Bool()
		case "metadata":
			if code, ok := m.Get("exit_code").Int(); ok {
				r.Failed = transcript.True(code != 0)
			}
			if s, ok := m.Get("duration_seconds").Float(); ok {
				r.Duration = seconds(s)
			}
		}
	}
}

func seconds(s float64) transcript.Count {
	const most = 1e12
	if s < 0 || s > most {
		return transcript.Count{}
	}
	return transcript.Known(int64(s*1e6 + 0.5))
}

// readHeader reads the lines that the shell tools put before an output: "Exit code: 1" or "Process exited with code 1",
// "Wall time: 0.1 seconds", and "Total output lines: 900" if it was cut.
func readHeader(r *transcript.Result, output jsontext.Value) {
	const longest = 400
	body := output.Body()
	head := beforeOutput(body[:min(len(body), longest)])
	for line := range bytes.SplitSeq(head, []byte(`\n`)) {
		if code, ok := after(line, "Exit code: ", "Process exited with code "); ok {
			if n, err := strconv.Atoi(code); err == nil {
				r.Failed = transcript.True(n != 0)
			}
		}
		if wall, ok := after(line, "Wall time: "); ok {
			wall, _, _ := bytes.Cut([]byte(wall), []byte(" "))
			if s, err := strconv.ParseFloat(string(wall), 64); err == nil {
				r.Duration = seconds(s)
			}
		}
		if _, ok := after(line, "Total output lines: "); ok {
			r.Cut = true
		}
	}
}

// beforeOutput returns what precedes the line that begins with "Output:", nil if there is none. It searches for the capital
// O, since few outputs have a header, and few have an O near their start, while line separators are everywhere.
func beforeOutput(raw []byte) []byte {
	const start, label = `\n`, "Output:"
	for at := 0; ; at++ {
		n := bytes.IndexByte(raw[at:], label[0])
		if n < 0 {
			return nil
		}
		if at += n; bytes.HasSuffix(raw[:at], []byte(start)) && bytes.HasPrefix(raw[at:], []byte(label)) {
			return raw[:at-len(start)]
		}
	}
}

func after(line []byte, starts ...string) (string, bool) {
	for _, start := range starts {
		if rest, ok := bytes.CutPrefix(line, []byte(start)); ok {
			return string(rest), true
		}
	}
	return "", false
}
