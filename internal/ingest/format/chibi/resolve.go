package chibi

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Resolve judges the files of one context against each other, names the models of its requests, and finds those
// that stand under an older name of the context, too.
//
// Where transcript/ exists, it alone counts: context.jsonl is a view of it, saved again with new ids whenever
// the program likes, and the flat layout's logs are what was left behind. Without it these are the log. The
// one document of the oldest layout counts without any log, transcript.md without anything else.
func (Format) Resolve(f *transcript.Family) {
	judge(f.Conversations)
	nameModels(f)
	renamed(f.Usage)
}

// ResolvesUsage makes the format a format.UsageResolver.
func (Format) ResolvesUsage() {}

func judge(conversations []*transcript.FamilyConversation) {
	var partitioned, flat, oldest bool
	for _, c := range conversations {
		switch roleIn(c) {
		case roleTranscript:
			partitioned = true
		case roleWindow, roleLog, roleArchive, roleStray:
			flat = true
		case roleOldest:
			oldest = true
		}
	}
	for _, c := range conversations {
		// What a file was before it was rewritten is judged as what it is now: every save of a window has other ids.
		if c.Verdict != "" && c.Verdict != transcript.Counted && c.Verdict != transcript.EarlierVersion {
			continue
		}
		switch role := roleIn(c); {
		case role == roleWindow && partitioned:
			c.Verdict = transcript.DerivedTotal
		case (role == roleLog || role == roleArchive) && partitioned:
			c.Verdict = transcript.Uncounted
		case role == roleOldest && (partitioned || flat),
			role == roleReadable && (partitioned || flat || oldest):
			c.Verdict = transcript.DerivedTotal
		}
	}
}

// roleIn gives the role of the file that states a conversation.
func roleIn(c *transcript.FamilyConversation) string {
	role, _ := c.Attributes["role"].(string)
	return role
}

// renamed lets one of the requests count that a context carries along when it gets another name. They differ in
// nothing but the name that their keys begin with.
func renamed(usage []*transcript.Usage) {
	said := func(u *transcript.Usage) string { return strings.TrimPrefix(u.Key, u.Run+"|") }
	owner := map[string]string{}
	for _, u := range usage {
		if have, ok := owner[said(u)]; !ok || u.Run < have {
			owner[said(u)] = u.Run
		}
	}
	for _, u := range usage {
		if owner[said(u)] != u.Run && u.Verdict != transcript.Uncounted {
			u.Verdict = transcript.DuplicateOf
		}
	}
}

// request is one line of requests.jsonl.
type request struct {
	number, second int64
	model          string
}

// nameModels gives each usage the model of its request: the one with the same number if both logs have as many
// lines, else (one of the two flags was off for a while) the latest request that was made before.
func nameModels(f *transcript.Family) {
	requests := requestsOf(f.Hints)
	var responses int64
	for _, u := range f.Usage {
		responses = max(responses, number(u.Attributes["request"]))
	}
	inStep := int64(len(requests)) == responses
	for _, u := range f.Usage {
		if u.Model != "" {
			continue
		}
		if n := number(u.Attributes["request"]); inStep && n > 0 {
			u.Model = requests[n-1].model
		} else if u.Time.Valid {
			u.Model = modelAt(requests, u.Time.UnixMicro/1e6)
		}
	}
}

// requestsOf gives the requests by number, each once.
func requestsOf(hints []*transcript.Hint) []request {
	var all []request
	for _, h := range hints {
		fields := strings.Split(h.Key, "/")
		if len(fields) != 3 || fields[0] != "request" {
			continue
		}
		n, _ := strconv.ParseInt(fields[1], 10, 64)
		second, _ := strconv.ParseInt(fields[2], 10, 64)
		all = append(all, request{n, second, h.Value})
	}
	slices.SortFunc(all, func(a, b request) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.second, b.second), cmp.Compare(a.model, b.model))
	})
	return slices.CompactFunc(all, func(a, b request) bool { return a.number == b.number })
}

// modelAt gives the model of the latest request not after a second, "" when all came later.
func modelAt(requests []request, second int64) string {
	var best request
	for _, r := range requests {
		if r.second <= second && r.second >= best.second {
			best = r
		}
	}
	return best.model
}

// number reads an attribute, which comes back from JSON as a float.
func number(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}
