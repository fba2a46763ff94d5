package sweagent

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// What the programs write.
const (
	fullSuffix      = ".traj"
	miniSuffix      = ".traj.json"
	lastName        = "last_mini_run" + miniSuffix
	trajectoriesDir = "trajectories" // <user>/<run>/...
)

// attemptDir is a directory beside the trajectory of a retry agent, with the trajectory of one attempt.
var attemptDir = lazyregexp.New(`^attempt_\d+$`)

// nameOf returns the instance that a trajectory is called by.
func nameOf(name string) string {
	base := path.Base(name)
	for _, suffix := range []string{miniSuffix, fullSuffix} {
		if stem, ok := strings.CutSuffix(base, suffix); ok && stem != "" {
			return stem
		}
	}
	return format.Stem(base)
}

// isAttempt reports whether a file is in the directory of an attempt.
func isAttempt(name string) bool { return attemptDir.MatchString(path.Base(path.Dir(name))) }

// Detect claims trajectories by how they begin. What else the programs write into their directories is kept.
func (sweagent) Detect(h format.Head) format.Claim {
	base := path.Base(h.Path)
	head := jsontext.TrimBOM(h.Bytes)
	mini, full := strings.HasSuffix(base, miniSuffix), path.Ext(base) == fullSuffix
	switch {
	case !mini && !full && path.Ext(base) != ".json":
		return beside(base, head)
	case mini && len(bytes.TrimSpace(head)) == 0:
		return format.Claim{Strength: format.Certain, Role: roleMini, Root: instanceDir(h.Path)}
	case !mini && !format.MayHave(head, "trajectory", "history", "attempts", "model_stats", "trajectory_format", "submission"):
		return beside(base, head)
	}
	claim := format.Claim{Strength: format.Likely}
	switch v := jsontext.ParseStart(head); {
	case isMini(v, mini):
		if claim.Role = roleMini; mini {
			claim.Strength, claim.Root = format.Certain, instanceDir(h.Path)
		}
	case isFull(v, full):
		if claim.Role = roleFull; full {
			claim.Strength, claim.Root = format.Certain, runDir(h.Path)
		}
	default:
		return beside(base, head)
	}
	return claim
}

// isMini reports whether a document begins like one of mini's. Its first member is as a rule info, which may be longer than what is seen here. named says
// that the file is called like one.
func isMini(v jsontext.Value, named bool) bool {
	info := v.Get("info")
	stats := info.Get("model_stats")
	switch {
	case v.Get("trajectory").Exists(), v.Get("history").Exists(), v.Get("attempts").Exists():
		return false
	case bytes.HasPrefix(v.Get("trajectory_format").Body(), []byte("mini-swe-agent")), info.Get("mini_version").IsString():
		return true
	case stats.Get("instance_cost").Exists() && stats.Get("api_calls").Exists() && !stats.Get("tokens_sent").Exists() && info.Get("config").IsObject():
		return true
	}
	about := info.First("config", "exit_status", "mini_version", "model_stats", "submission")
	return named && (about.Exists() || isMessage(v.Get("messages")) || isMessage(v))
}

// isMessage reports whether an array begins with a message.
func isMessage(list jsontext.Value) bool {
	for m := range list.Items() {
		return m.Get("role").IsString() && m.Get("content").Exists()
	}
	return false
}

// isFull reports whether a document begins like one of SWE-agent's.
func isFull(v jsontext.Value, named bool) bool {
	for _, key := range []string{"trajectory", "history"} {
		for first := range v.Get(key).Items() {
			step := first.Get("action").IsString() && (named || first.Get("response").IsString() && first.Get("observation").IsString())
			said := first.Get("role").IsString() && first.Get("content").Exists() && (named || first.Get("agent").IsString() && first.Get("message_type").IsString())
			if step || said {
				return true
			}
			break
		}
	}
	for first := range v.Get("attempts").Items() {
		return isFull(first, named)
	}
	steps, said := v.Get("trajectory"), v.Get("history")
	return named && (isEmpty(v.Get("attempts")) || isEmpty(steps) && said.Exists() || isEmpty(said) && (steps.Exists() || v.Get("info").IsObject()))
}

func isEmpty(list jsontext.Value) bool { return list.IsArray() && !list.HasItems() }

// beside claims what the programs write for many instances at once: it is kept, and found by name.
func beside(base string, head []byte) format.Claim {
	kept := format.Claim{Strength: format.Likely, Role: format.Other}
	switch {
	case (base == "preds.json" || base == "all_preds.jsonl") && format.HasKeys(head, "model_patch", "instance_id"):
		return kept
	case strings.HasPrefix(base, "exit_statuses_") && path.Ext(base) == ".yaml" && bytes.HasPrefix(head, []byte("instances_by_exit_status")):
		return kept
	}
	return format.Claim{}
}

// instanceDir returns the directory of a file if it is called like the file, since then the program has made it; else "".
func instanceDir(name string) string {
	if dir := path.Dir(name); path.Base(dir) == nameOf(name) {
		return dir
	}
	return ""
}

// runDir returns the directory of a run of SWE-agent below trajectories/<user>, else the directory of the instance; "" if the file stands alone.
func runDir(name string) string {
	dir := name
	if isAttempt(name) {
		dir = path.Dir(name)
	}
	instance := path.Dir(dir)
	for range 2 { // the file lies in the directory of its instance, before 1.0 in that of the run
		if dir = path.Dir(dir); path.Base(path.Dir(path.Dir(dir))) == trajectoriesDir {
			return dir
		}
	}
	if isAttempt(name) || path.Base(instance) == nameOf(name) {
		return instance
	}
	return ""
}
