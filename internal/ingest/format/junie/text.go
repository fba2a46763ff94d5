package junie

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (junie) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of a line or a piece of it: all strings and numbers except ids, types, times and images, and nothing of a line that only
// states how the program is.
func appendValue(dst []byte, v jsontext.Value) []byte {
	if silent[kindOf(v)] {
		return dst
	}
	return jsontext.AppendTextAndNumbers(dst, v, visit)
}

// kindOf returns the kind of a line: that of the agent's event, if there is one.
func kindOf(v jsontext.Value) string {
	if kind := v.Get("event", "agentEvent", "kind").Word(); kind != "" {
		return kind
	}
	return v.Get("kind").Word()
}

// silent are the kinds of lines without anything that was said or done. The state of the agent repeats the conversation as the model is sent it; the
// environment has the names of all variables.
var silent = map[string]bool{
	"TaskStartedEvent": true, "TaskState": true, "UserMessagesCommittedToHistory": true, "UserMessagesDroppedFromHistory": true,
	"UserMessagesFailedInHistory": true, "SendToAgentEvent": true, "CancelAgentEvent": true, "SkillsStatusEvent": true, "TaskContinueStopped": true,
	"SessionCostTrajectorySnapshotEvent": true, "AgentCurrentStatusUpdatedEvent": true, "CurrentDirectoryUpdatedEvent": true,
	"EnvironmentVariablesUpdatedEvent": true, "AgentStateUpdatedEvent": true, "ContextWindowReportEvent": true, "TipSuggestionCreatedEvent": true,
	"NextPromptSuggestionEvent": true, "AvailablePullRequestsEvent": true, "AuthorizationAvailabilityEvent": true, "AgentStartedEvent": true,
	"LlmResponseMetadataEvent": true,
}

// alwaysSkipped are members that hold no text to search.
var alwaysSkipped = map[string]bool{
	"kind": true, "id": true, "stepId": true, "taskId": true, "sessionId": true, "requestId": true, "agent": true, "status": true, "state": true,
	"timestampMs": true, "createdAt": true, "updatedAt": true, "startedAtMs": true, "endedAtMs": true, "errorCode": true, "isBinary": true,
}

func visit(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
	return dst, alwaysSkipped[key] || m.IsDataURL() || m.IsBase64()
}
