package droid

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// textOf returns all strings of a value except ids, types, names of models and times, signatures, encrypted or encoded data, and settings. It does
// not depend on what surrounds the value. The input of a tool is taken as a whole.
var textOf = jsontext.Appended(appendText)

func appendText(dst []byte, v jsontext.Value) []byte { return jsontext.AppendText(dst, v, visit) }

func visit(dst []byte, _ int, key string, value jsontext.Value) ([]byte, bool) {
	switch key {
	case "type", "id", "parentId", "timestamp", "role", "visibility", "signature", "signatureProvider", "modelId", "routerId", "reasoningEffort", "apiProvider",
		"openaiMessageId", "openaiPhase", "openaiEncryptedContent", "openaiReasoningId", "openaiReasoningSummary", "geminiThoughtSignature",
		"chatCompletionReasoningField", "chatCompletionReasoningContent", "interactionMode", "userMessageSource", "tool_use_id", "media_type",
		"compactionSummaryId", "anchorMessage", "systemInfo", "loadedDeferredToolNames", "uiRenderCutoffMessageId", "summaryKind", "hookParentId",
		"hookToolCallId", "parent", "callingSessionId", "callingToolUseId", "decompMissionId", "decompSessionType", "hostId", "owner", "cwd", "lastCwd",
		"sessionTitleAutoStage", "turnId", "schemaFingerprint", "finalText",
		// of settings
		"model", "autonomyLevel", "autonomyMode", "specModeModel", "specModeReasoningEffort", "providerLock", "providerLockTimestamp", "apiProviderLock",
		"archivedAt", "enabledToolIds", "disabledToolIds", "effectiveFactoryRouterModel", "metadata":
		return dst, true
	case "input":
		return jsontext.AppendScalars(dst, value), true
	case "data":
		if value.IsBase64() {
			return dst, true
		}
	}
	return dst, value.IsDataURL() || value.Get("type").Is("redacted_thinking")
}
