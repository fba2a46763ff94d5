package cline

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Resolve sets the models of requests that do not state one, the verdicts of requests that were deleted and of the copied part
// of a session, and the title of a session, which stands in its manifest.
func (cline) Resolve(f *transcript.Family) {
	nameModels(f)
	resolveDeleted(f)
	for _, c := range f.Conversations {
		c.CopiedUntil = 0
		if strings.HasSuffix(c.Path, ".messages.json") {
			c.CopiedUntil = copiedUntil(f, c.Hints)
			c.Title = cmp.Or(f.Run.Title, c.Title)
		}
	}
}

// copiedUntil returns the offset at which a session's own messages begin, in the file that gives these hints: at the first prompt since it was
// forked or imported, which its manifest states, and after the history of a task if the archive has the task, too.
func copiedUntil(f *transcript.Family, hints []*transcript.Hint) int64 {
	forked, task := int64(math.MinInt64), false
	for _, c := range f.Conversations {
		if file, ok := taskFiles[path.Base(c.Path)]; ok && file.role == roleUI && c.Events > 0 {
			task = true
		}
	}
	for _, h := range f.Hints {
		if at, err := strconv.ParseInt(h.Value, 10, 64); err == nil && h.Key == hintForked {
			forked = max(forked, at)
		}
	}
	resumed, first, prompt := int64(0), int64(math.MaxInt64), int64(math.MaxInt64)
	for _, h := range hints {
		switch h.Key {
		case hintResumed:
			if at, err := strconv.ParseInt(h.Value, 10, 64); err == nil && task {
				resumed = at
			}
		case hintTurn:
			stamp, offset, _ := strings.Cut(h.Value, "\t")
			ms, err := strconv.ParseInt(stamp, 10, 64)
			at, err2 := strconv.ParseInt(offset, 10, 64)
			if err == nil && err2 == nil && ms >= forked && (ms < first || ms == first && at < prompt) {
				first, prompt = ms, at
			}
		}
	}
	if forked == math.MinInt64 {
		return resumed
	}
	return max(resumed, prompt)
}

// ResolvesUsage makes the format a format.UsageResolver.
func (cline) ResolvesUsage() {}

// modelFrom is the model that answers from a time on.
type modelFrom struct {
	from  int64 // microseconds
	model string
}

// nameModels sets the model of each request to the last one stated before the next request began: the prompt that
// states it is written after its request has begun.
func nameModels(f *transcript.Family) {
	var models []modelFrom
	for _, h := range f.Hints {
		if h.Key != hintModel {
			continue
		}
		stamp, model, _ := strings.Cut(h.Value, "\t")
		ms, err := strconv.ParseInt(stamp, 10, 64)
		if err != nil || model == "" {
			continue
		}
		models = append(models, modelFrom{timestamp.UnixMilli(ms).UnixMicro, model})
	}
	if len(models) == 0 {
		return
	}
	slices.SortStableFunc(models, func(a, b modelFrom) int { return int(max(min(a.from-b.from, 1), -1)) })
	requests := slices.Clone(f.Usage)
	slices.SortStableFunc(requests, func(a, b *transcript.Usage) int {
		return int(max(min(a.Time.UnixMicro-b.Time.UnixMicro, 1), -1))
	})
	for i, u := range requests {
		if u.Model != "" || !u.Time.Valid {
			continue
		}
		next := int64(1<<63 - 1)
		for _, later := range requests[i:] {
			if later.Time.UnixMicro > u.Time.UnixMicro {
				next = later.Time.UnixMicro
				break
			}
		}
		for _, m := range models {
			if m.from < next {
				u.Model = m.model
			}
		}
	}
	for _, c := range f.Conversations {
		if c.Model == "" && c.Rank > 0 {
			c.Model = models[len(models)-1].model
		}
	}
}

// resolveDeleted keeps deleted requests from counting twice: in an earlier state of the file, and in the deleted_api_reqs
// that replaced them. The requests count if the archive has all of them, else the sum does.
func resolveDeleted(f *transcript.Family) {
	states := fileStates(f.Usage)
	missing := missingFrom(states)
	var deleted, summed totals
	for key, u := range latest(states) {
		switch isSum := u.Attributes[deletedMark] == true; {
		case isSum && !missing[key]:
			summed.add(u)
		case !isSum && missing[key]:
			deleted.add(u)
		}
	}
	if summed == (totals{}) {
		return
	}
	for _, u := range f.Usage {
		isSum := u.Attributes[deletedMark] == true
		if isSum && (missing[u.Key] || deleted == summed) || !isSum && missing[u.Key] && deleted != summed {
			u.Verdict = transcript.DerivedTotal
		}
	}
}

// totals are the sums of several requests.
type totals struct{ input, output, read, write int64 }

func (t *totals) add(u *transcript.Usage) {
	t.input += u.Input.N
	t.output += u.Output.N
	t.read += u.CacheRead.N
	t.write += u.CacheWrite.N
}

// fileStates groups the usage of a task by the state of the file that it comes from. Usage comes ordered by file,
// state and offset, so an offset that does not increase starts the next state.
func fileStates(all []*transcript.Usage) (states []map[string]*transcript.Usage) {
	last := int64(1<<63 - 1)
	for _, u := range all {
		if strings.HasSuffix(u.Key, ":total") {
			continue
		}
		if u.Origin.Offset <= last {
			states = append(states, map[string]*transcript.Usage{})
		}
		last = u.Origin.Offset
		states[len(states)-1][u.Key] = u
	}
	return states
}

// latest returns the last statement of each request.
func latest(states []map[string]*transcript.Usage) map[string]*transcript.Usage {
	all := map[string]*transcript.Usage{}
	for _, state := range states {
		for key, u := range state {
			all[key] = u
		}
	}
	return all
}

// missingFrom returns the keys of requests that are no later than a deleted_api_reqs in a state of the file, and not in that state.
func missingFrom(states []map[string]*transcript.Usage) map[string]bool {
	all, missing := latest(states), map[string]bool{}
	for _, state := range states {
		lastSum := int64(-1 << 63)
		for _, u := range state {
			if u.Attributes[deletedMark] == true {
				lastSum = max(lastSum, u.Time.UnixMicro)
			}
		}
		for key, u := range all {
			if _, present := state[key]; !present && u.Time.Valid && u.Time.UnixMicro <= lastSum {
				missing[key] = true
			}
		}
	}
	return missing
}
