package antigravity

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/protobuf"
)

// The table names in originals taken out of a database.
const (
	tablePrefix     = "antigravity "
	tableStep       = tablePrefix + "step"
	tableTrajectory = tablePrefix + "trajectory" // what is stated of the conversation
	tableReference  = tablePrefix + "reference"  // the conversations that it was forked from
	tableSpent      = tablePrefix + "spent"      // what a step states of the request that it came from
	tableRequest    = tablePrefix + "request"
)

// The names of the originals below a database.
const (
	stepsName    = "steps"
	requestsName = "requests"
)

// changes is SQL for a number that changes with the blobs of a table.
func changes(table, column string) string {
	return `(SELECT coalesce(sum(octet_length(` + column + `) * 31 + 1000003), 0) FROM ` + table + `)`
}

// Split takes a database apart into its steps, and its requests with what they need: the times of the steps, and the conversation's project. Of the
// messages in it only fields with a use are kept: a request may hold all that the model was sent, which adds up to gigabytes.
func (antigravity) Split(role string) []format.Split {
	if role != roleDatabase {
		return nil
	}
	const states = `(SELECT coalesce(sum(status * (idx % 1009 + 1)), 0) FROM steps)`
	return []format.Split{
		{
			Role: roleSteps, Log: true,
			Any:  []string{"steps"},
			Keys: `SELECT '` + stepsName + `', NULL, ` + changes("steps", "step_payload") + ` + ` + states + `, ''`,
			Rows: []format.Query{{
				Name: tableStep, SQL: `SELECT idx, step_type, status, step_payload AS step FROM steps ORDER BY idx`, Protobuf: map[string]protobuf.Message{"step": stepMessage},
			}},
		},
		{
			Role: roleRequests,
			Any:  []string{"steps"},
			Keys: `SELECT '` + requestsName + `', NULL, ` + changes("gen_metadata", "data") + ` + 7 * ` + changes("steps", "metadata") + ` + ` +
				changes("trajectory_metadata_blob", "data") + ` + ` + changes("parent_references", "data") + `, ''`,
			Rows: []format.Query{
				{
					Name:     tableTrajectory,
					SQL:      `SELECT (SELECT max(trajectory_id) FROM trajectory_meta) AS trajectory_id, data FROM trajectory_metadata_blob ORDER BY id`,
					Protobuf: map[string]protobuf.Message{"data": trajectoryMessage},
				},
				{Name: tableReference, SQL: `SELECT idx, data FROM parent_references ORDER BY idx`, Protobuf: map[string]protobuf.Message{"data": referenceMessage}},
				{Name: tableSpent, SQL: `SELECT idx, metadata FROM steps WHERE metadata NOT NULL ORDER BY idx`, Protobuf: map[string]protobuf.Message{"metadata": spentMessage}},
				{Name: tableRequest, SQL: `SELECT idx, data FROM gen_metadata WHERE data NOT NULL ORDER BY idx`, Protobuf: map[string]protobuf.Message{"data": requestMessage}},
			},
		},
	}
}

// Apart reports whether originals of a role come out of a database.
func (antigravity) Apart(role string) bool {
	return role == roleDatabase || role == roleSteps || role == roleRequests
}

// The messages in a database, as their descriptors in the program name and number the fields.
var (
	timeMessage = protobuf.Message{{Number: 1, Name: "seconds"}, {Number: 2, Name: "nanos"}}

	usageMessage = protobuf.Message{
		{Number: 1, Name: "model"}, {Number: 2, Name: "input_tokens"}, {Number: 3, Name: "output_tokens"},
		{Number: 4, Name: "cache_write_tokens"}, {Number: 5, Name: "cache_read_tokens"}, {Number: 6, Name: "api_provider"}, {Number: 7, Name: "message_id"},
		{Number: 9, Name: "thinking_output_tokens"}, {Number: 10, Name: "response_output_tokens"}, {Number: 11, Name: "response_id"},
		{Number: 12, Name: "provider_assigned_message_id"},
	}

	retryMessage = protobuf.Message{{Number: 2, Name: "usage", Message: usageMessage}}

	requestMessage = protobuf.Message{
		{Number: 1, Name: "chat_model", Message: protobuf.Message{
			{Number: 3, Name: "model"}, {Number: 4, Name: "usage", Message: usageMessage}, {Number: 9, Name: "chat_start_metadata", Message: protobuf.Message{{Number: 4, Name: "created_at", Message: timeMessage}}},
			{Number: 17, Name: "retry_infos", Message: retryMessage, List: true}, {Number: 19, Name: "response_model"}, {Number: 21, Name: "model_display_name"}, {Number: 22, Name: "response_model_full"},
		}},
		{Number: 2, Name: "step_indices", Packed: true},
	}

	spentMessage = protobuf.Message{
		{Number: 1, Name: "created_at", Message: timeMessage}, {Number: 9, Name: "model_usage", Message: usageMessage},
		{Number: 20, Name: "trajectory", Message: protobuf.Message{{Number: 1, Name: "trajectory_id"}}}, {Number: 24, Name: "model_info", Message: modelMessage},
		{Number: 28, Name: "retry_infos", Message: retryMessage, List: true},
	}

	modelMessage = protobuf.Message{{Number: 1, Name: "model"}, {Number: 8, Name: "model_name"}, {Number: 12, Name: "display_name"}}

	trajectoryMessage = protobuf.Message{
		{Number: 1, Name: "workspaces", List: true, Message: protobuf.Message{{Number: 1, Name: "workspace_folder_absolute_uri"}, {Number: 4, Name: "branch_name"}}},
		{Number: 2, Name: "created_at", Message: timeMessage}, {Number: 5, Name: "parent_conversation_id"}, {Number: 6, Name: "root_conversation_id"}, {Number: 7, Name: "workspace_uris", List: true},
		{Number: 17, Name: "nesting_depth"}, {Number: 18, Name: "project_id"},
	}

	referenceMessage = protobuf.Message{{Number: 1, Name: "trajectory_id"}, {Number: 2, Name: "step_index"}, {Number: 5, Name: "reference_type"}, {Number: 6, Name: "conversation_id"}}

	callMessage  = protobuf.Message{{Number: 1, Name: "id"}, {Number: 2, Name: "name"}, {Number: 3, Name: "arguments_json"}}
	errorMessage = protobuf.Message{{Number: 1, Name: "user_error_message"}, {Number: 2, Name: "short_error"}, {Number: 3, Name: "full_error"}}

	stepMessage = protobuf.Message{
		{Number: 5, Name: "metadata", Message: protobuf.Message{
			{Number: 1, Name: "created_at", Message: timeMessage}, {Number: 3, Name: "source"}, {Number: 4, Name: "tool_call", Message: callMessage}, {Number: 24, Name: "model_info", Message: modelMessage},
		}},
		{Number: 12, Name: "finish", Message: protobuf.Message{{Number: 2, Name: "output_string"}}},
		{Number: 19, Name: "user_input", Message: protobuf.Message{{Number: 1, Name: "query"}, {Number: 2, Name: "user_response"}, {Number: 3, Name: "items", List: true, Message: protobuf.Message{{Number: 1, Name: "text"}}}}},
		{Number: 20, Name: "planner_response", Message: protobuf.Message{{Number: 1, Name: "response"}, {Number: 3, Name: "thinking"}, {Number: 7, Name: "tool_calls", List: true, Message: callMessage}, {Number: 8, Name: "modified_response"}}},
		{Number: 24, Name: "error_message", Message: protobuf.Message{{Number: 3, Name: "error", Message: errorMessage}}},
		{Number: 28, Name: "run_command", Message: protobuf.Message{{Number: 4, Name: "stdout"}, {Number: 5, Name: "stderr"}, {Number: 6, Name: "exit_code"}, {Number: 21, Name: "combined_output", Message: protobuf.Message{{Number: 1, Name: "full"}, {Number: 2, Name: "truncated"}}}}},
		{Number: 30, Name: "checkpoint", Message: protobuf.Message{{Number: 4, Name: "user_intent"}, {Number: 5, Name: "session_summary"}}},
		{Number: 31, Name: "error", Message: errorMessage},
		{Number: 34, Name: "find", Message: protobuf.Message{{Number: 11, Name: "raw_output"}}},
		{Number: 37, Name: "command_status", Message: protobuf.Message{{Number: 3, Name: "stdout"}, {Number: 4, Name: "stderr"}, {Number: 9, Name: "combined"}}},
		{Number: 42, Name: "search_web", Message: protobuf.Message{{Number: 5, Name: "summary"}}},
		{Number: 47, Name: "mcp_tool", Message: protobuf.Message{{Number: 3, Name: "result_string"}}},
		{Number: 94, Name: "notify_user", Message: protobuf.Message{{Number: 2, Name: "notification_content"}}},
		{Number: 103, Name: "ephemeral_message", Message: protobuf.Message{{Number: 1, Name: "content"}}},
		{Number: 114, Name: "system_message", Message: protobuf.Message{{Number: 1, Name: "message"}}},
		{Number: 127, Name: "shell_exec", Message: protobuf.Message{{Number: 3, Name: "output"}, {Number: 4, Name: "error_message"}}},
		{Number: 140, Name: "generic", Message: protobuf.Message{{Number: 2, Name: "result", Message: protobuf.Message{{Number: 1, Name: "result"}}}}},
	}
)
