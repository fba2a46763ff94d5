package atif

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// place is where a file lies in the directory of a trial; the zero place is outside of one.
type place struct {
	trial string // its name, which is that of its directory
	step  string // of a trial with several
	above string // the directory that the file is in
}

// trialName matches the names that Harbor gives: the task's and seven characters by chance.
var trialName = lazyregexp.New(`^.+__[2-9A-HJ-NP-Za-km-z]{7}$`)

// placeOf reads <trial>/<file>, <trial>/<directory>/<file> and <trial>/steps/<step>/<directory>/<file>.
func placeOf(file string) place {
	dir := path.Dir(file)
	if trialName.MatchString(path.Base(dir)) {
		return place{trial: path.Base(dir)}
	}
	p := place{above: path.Base(dir)}
	dir = path.Dir(dir)
	if above := path.Dir(dir); path.Base(above) == "steps" {
		p.step, dir = path.Base(dir), path.Dir(above)
	}
	if p.trial = path.Base(dir); !trialName.MatchString(p.trial) || p.above != "agent" && p.above != "verifier" {
		return place{}
	}
	return p
}

// printedFiles are the files with text of a verifier.
var printedFiles = map[string]bool{"reward.txt": true, "reward.json": true, "test-stdout.txt": true, "test-stderr.txt": true, "ctrf.json": true}

// Detect recognises trajectories by the version that they state, under any name, and files of trials by their members and by their place.
func (atif) Detect(h format.Head) format.Claim {
	name, at := path.Base(h.Path), placeOf(h.Path)
	switch {
	case at.above == "verifier" && printedFiles[name], at.trial != "" && at.above == "" && name == "exception.txt":
		return format.Claim{Strength: format.Likely, Role: roleVerifier}
	case at.trial != "" && at.above == "" && name == "trial.log":
		return format.Claim{Strength: format.Likely, Role: format.Other}
	case !format.MayHave(h.Bytes, "schema_version", "steps", "tool_definitions", "trial_name", "n_total_trials", "job_name"):
		return format.Claim{}
	}
	if ext := path.Ext(name); ext == ".jsonl" || ext == ".ndjson" {
		if s := strengthOf(firstLine(h.Bytes), name, h); s != format.None {
			return format.Claim{Strength: s, Role: roleLines, Log: true}
		}
		return format.Claim{}
	}
	first, alone := jsontext.FirstElement(h.Bytes)
	switch s := strengthOf(first, name, h); {
	case s != format.None && alone:
		return format.Claim{Strength: s, Role: roleTrajectory}
	case s != format.None:
		return format.Claim{Strength: s, Role: roleList}
	case !alone:
		return format.Claim{}
	}
	return detectTrial(name, first)
}

// strengthOf returns how sure it is that what the first bytes have of an object is a trajectory. A program that sorts members may put the version
// behind long steps or descriptions of tools.
func strengthOf(v jsontext.Value, name string, h format.Head) format.Strength {
	switch version, agent := v.Get("schema_version"), v.Get("agent"); {
	case isTrajectory(v):
		return format.Certain
	case version.Exists() || int64(len(h.Bytes)) == h.Size:
	case strings.Contains(name, "trajectory") && agent.Get("name").IsString() && agent.Get("tool_definitions").IsArray():
		return format.Likely
	default:
		for s := range v.Get("steps").Items() {
			if _, numbered := s.Get("step_id").Int(); numbered && sources[s.Get("source").Word()] {
				return format.Likely
			}
			break
		}
	}
	return format.None
}

var sources = map[string]bool{"user": true, "agent": true, "system": true}

func firstLine(head []byte) jsontext.Value {
	for line, whole := range format.ObjectLines(head) {
		return format.LineStart(line, whole)
	}
	return jsontext.Value{}
}

var version = lazyregexp.New(`^ATIF-v\d`)

// isTrajectory reports whether an object states a version of the format. What else is in it may come after the first bytes.
func isTrajectory(v jsontext.Value) bool {
	return version.MatchString(v.Get("schema_version").Str())
}

// detectTrial claims what Harbor writes about a trial, and about the job that it is a part of.
func detectTrial(name string, v jsontext.Value) format.Claim {
	trial := v.Get("trial_name").IsString()
	switch {
	case name == "result.json" && trial && v.Get("task_name").IsString() && (v.Get("trial_uri").IsString() || v.Get("agent_info").IsObject()):
		return format.Claim{Strength: format.Certain, Role: roleResult}
	case name == "config.json" && trial && v.Get("trials_dir").IsString() && v.Get("task").IsObject():
		return format.Claim{Strength: format.Certain, Role: roleConfig}
	case name == "result.json" && v.Get("n_total_trials").Exists() && v.Get("stats").IsObject(), name == "config.json" && v.Get("job_name").IsString() && v.Get("jobs_dir").IsString():
		return format.Claim{Strength: format.Likely, Role: format.Other} // sums and settings of a job
	}
	return format.Claim{}
}
