package chibi

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Resolve sets the verdicts of the files of one context, names the models of its requests, and marks usage that also exists
// under an older name of the context.
//
// Where transcript/ exists, it alone counts: context.jsonl is a view of it, saved with new ids at any time, and logs of the
// flat layout are leftovers. Without it, these are the log. The single document of the oldest layout counts if there is no
// log, transcript.md if there is nothing else.
func (chibi) Resolve(f *transcript.Family) {
	setVerdicts(f.Conversations)
	nameModels(f)
	markRenamed(f.Usage)
}

// ResolvesUsage makes the format a format.UsageResolver.
func (chibi) ResolvesUsage() {}

func setVerdicts(conversations []*transcript.FamilyConversation) {
	var partitioned, flat, oldest bool
	for _, c := range conversations {
		switch conversationRole(c) {
		case roleTranscript:
			partitioned = true
		case roleWindow, roleLog, roleArchive, roleStray:
			flat = true
		case roleOldest:
			oldest = true
		}
	}
	for _, c := range conversations {
		// An earlier version of a file gets the verdict of the file as it is now: every save of a window has other ids.
		if c.Verdict != "" && c.Verdict != transcript.Counted && c.Verdict != transcript.EarlierVersion {
			continue
		}
		switch role := conversationRole(c); {
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

// conversationRole returns the role of the file that states a conversation.
func conversationRole(c *transcript.FamilyConversation) string {
	role, _ := c.Attributes["role"].(string)
	return role
}

// markRenamed lets a request count once if a context took it along to a new name. Such records differ only in the name that
// their keys begin with.
func markRenamed(usage []*transcript.Usage) {
	requestKey := func(u *transcript.Usage) string { return strings.TrimPrefix(u.Key, u.Run+"|") }
	owner := map[string]string{}
	for _, u := range usage {
		if have, ok := owner[requestKey(u)]; !ok || u.Run < have {
			owner[requestKey(u)] = u.Run
		}
	}
	for _, u := range usage {
		if owner[requestKey(u)] != u.Run && u.Verdict != transcript.Uncounted {
			u.Verdict = transcript.DuplicateOf
		}
	}
}

// request is one line of requests.jsonl.
type request struct {
	number, second int64
	model          string
}

// nameModels sets the model of each usage to that of its request: the one with the same number if both logs have the same
// number of lines, else (one of the two flags was off for a while) the latest request made before it.
func nameModels(f *transcript.Family) {
	requests := requestsOf(f.Hints)
	var responses int64
	for _, u := range f.Usage {
		responses = max(responses, number(u.Attributes["request"]))
	}
	sameLength := int64(len(requests)) == responses
	for _, u := range f.Usage {
		if u.Model != "" {
			continue
		}
		if n := number(u.Attributes["request"]); sameLength && n > 0 {
			u.Model = requests[n-1].model
		} else if u.Time.Valid {
			u.Model = modelAt(requests, u.Time.UnixMicro/1e6)
		}
	}
}

// requestsOf returns the requests by number, each once.
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

// modelAt returns the model of the latest request not after a second, "" if all came later.
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
