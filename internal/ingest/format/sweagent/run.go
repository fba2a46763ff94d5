package sweagent

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// runOf returns what both programs state of a run in the same way.
func runOf(doc, info jsontext.Value) *transcript.Run {
	status := info.Get("exit_status").Text()
	run := &transcript.Run{Status: status, Error: format.Title(info.Get("exception_str").Str())}
	if info.IsObject() || doc.Get("attempts").IsArray() {
		run.Outcome = outcomeOf(status)
	}
	run.Attributes.Set("instance", doc.Get("instance_id").Str())
	run.Attributes.Set("format", doc.Get("trajectory_format").Str())
	return run
}

// outcomeOf returns the outcome of an exit status. Both programs submit what there is if a limit or an error ends a run; SWE-agent says so with
// "submitted (exit_cost)" and the like.
func outcomeOf(status string) transcript.Outcome {
	switch status {
	case "":
		return transcript.Running
	case "submitted", "Submitted":
		return transcript.Succeeded
	case "skipped", "KeyboardInterrupt", "UserInterruption":
		return transcript.Cancelled
	case "early_exit", "exit_command":
		return transcript.Other
	}
	return transcript.Failed
}

// fill sets what SWE-agent states of a run, most of it in its configuration.
func fill(run *transcript.Run, doc jsontext.Value) {
	replay := doc.Get("replay_config").Unwrap()
	run.Agent = "SWE-agent"
	run.Version = doc.Get("info", "swe_agent_version").Str()
	agent := replay.Get("agent")
	for config := range agent.Get("agent_configs").Items() {
		agent = config
		break
	}
	run.Model = agent.Get("model", "name").Str()
	repo := replay.Get("env", "repo")
	run.Project = repo.First("github_url", "path", "repo_name").Str()
	run.Attributes.Set("base_commit", repo.Get("base_commit").Str())
	run.Attributes.Set("environment", doc.Get("environment").Str())
	task := replay.Get("problem_statement").First("text", "problem_statement", "github_url").Str()
	for item := range doc.Get("history").Items() {
		if task != "" || item.Get("role").Is("assistant") {
			break
		}
		if item.Get("role").Is("user") && !isDemo(item) {
			task = taskIn(item.Get("content").Str())
		}
	}
	run.Title = format.Title(task)
}

// taskMarks stand before the task in the prompts that the programs come with.
var taskMarks = []string{"ISSUE:\n", "Consider the following PR description:\n", "<pr_description>\n", "Please solve this issue: ", "Your task: ", "<task>\n"}

// taskIn returns the task in a prompt, or the prompt.
func taskIn(prompt string) string {
	for _, mark := range taskMarks {
		if _, task, ok := strings.Cut(prompt, mark); ok && strings.TrimSpace(task) != "" {
			return task
		}
	}
	return prompt
}

// fillMini sets what mini states of a run.
func (p *parser) fillMini(run *transcript.Run, messages, info jsontext.Value) {
	config := info.Get("config")
	run.Agent, run.Version = "mini-SWE-agent", info.Get("mini_version").Str()
	run.Model = config.Get("model", "model_name").Str()
	run.Project = config.Get("environment", "cwd").Str()
	run.Attributes.Set("agent_type", config.Get("agent_type").Str())
	run.Attributes.Set("image", config.Get("environment", "image").Str())
	p.model = run.Model
	for m := range messages.Items() {
		if run.Title == "" && m.Get("role").Is("user") {
			if prompt := textOf(m.Get("content")); strings.TrimSpace(prompt) != "" {
				run.Title = format.Title(rendered(config.Get("agent", "instance_template").Str(), prompt))
			}
		}
		if at := timeOf(m); at.Valid {
			if run.Ended = at; !run.Started.Valid {
				run.Started = at
			}
		}
	}
}

// rendered returns the task in a prompt that was made from a template.
func rendered(template, prompt string) string {
	before, _, ok := strings.Cut(template, "{{task}}")
	if task, cut := strings.CutPrefix(prompt, strings.TrimLeft(before, " \n")); ok && cut && strings.TrimSpace(task) != "" {
		return task
	}
	return taskIn(prompt)
}

// textOf returns the text of the content of a message.
func textOf(content jsontext.Value) string {
	return jsontext.Build(func(dst []byte) []byte { return appendText(dst, content) })
}
