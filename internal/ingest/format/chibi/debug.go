package chibi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parseUsage reads response_meta.jsonl, the only file with token counts. It names no model: Resolve takes that from
// requests.jsonl by the request's number, which is kept as an attribute.
func parseUsage(in format.Input, out *emitter) {
	out.emitNamedRun()
	occurrences := map[string]int{}
	n := int64(0)
	for o := range out.Each(jsontext.Objects(in.Reader, "", out.problem)) {
		n++
		u := readUsage(o.Value)
		if n == 1 { // for a context without a log this is the only identity besides its name
			out.Emit(&transcript.Run{ID: out.run, Local: true, Named: true, Anchor: anchor(u.Time, "")})
		}
		// The program only appends, but the file may be cut or copied to another home. So the key consists of what the line
		// says about the request.
		key := strings.Join([]string{
			out.run, strconv.FormatInt(u.Time.UnixMicro/1e6, 10),
			countText(u.Input), countText(u.Output), u.RequestID,
		}, "|")
		occurrences[key]++
		u.Run, u.Origin = out.run, o.Origin
		u.Key = key + "|" + strconv.Itoa(occurrences[key])
		u.Attributes["request"] = n
		out.Emit(u)
	}
}

func readUsage(v jsontext.Value) *transcript.Usage {
	response := v.Get("response")
	tokens := response.Get("usage")
	u := &transcript.Usage{
		Time:      readTime(v.Get("timestamp")),
		Input:     tokens.Get("prompt_tokens").Count(),
		Output:    tokens.Get("completion_tokens").Count(),
		Model:     response.Get("model").Str(),
		RequestID: response.Get("id").Str(),
		Requests:  transcript.Known(1),
	}
	u.Attributes = transcript.Attributes{}
	if total := tokens.Get("total_tokens").Count(); total.Known && total.N != u.Input.N+u.Output.N {
		u.Attributes["total_tokens"] = total.N
	}
	if !response.IsObject() {
		u.Verdict, u.Requests = transcript.Uncounted, transcript.Count{}
	}
	return u
}

func countText(c transcript.Count) string {
	if !c.Known {
		return "-"
	}
	return strconv.FormatInt(c.N, 10)
}

// parseRequests yields the model of each request as a hint. The text repeats the history with every call and is not
// indexed. Nothing that counts is read from this file, so a bad line is not a problem.
func parseRequests(in format.Input, out *emitter) {
	out.emitNamedRun()
	n := 0
	for o := range out.Each(jsontext.Objects(in.Reader, "", func(*transcript.Problem) {})) {
		n++
		out.Emit(&transcript.Hint{
			Run:    out.run,
			Key:    fmt.Sprintf("request/%08d/%012d", n, readTime(o.Value.Get("timestamp")).UnixMicro/1e6),
			Value:  o.Value.Get("request", "model").Str(),
			Origin: o.Origin,
		})
	}
}
