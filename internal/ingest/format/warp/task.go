package warp

import "github.com/txarchive/txarchive/internal/ingest/protobuf"

type message = protobuf.Message

// otherFields is what becomes of messages and tools that no table has.
const otherFields = "other_fields"

// The messages in the column task (package warp.multi_agent.v1), as the published definitions name and number their fields. Left out are what
// only the server reads (server_data), images, and in a context what is the same in each: the rules and skills of the project. Kinds of messages
// and tools that later versions add are kept as they are.
var (
	empty         = message{}
	errorMessage  = message{{Number: 1, Name: "message"}}
	timeMessage   = message{{Number: 1, Name: "seconds"}, {Number: 2, Name: "nanos"}}
	pathMessage   = message{{Number: 1, Name: "file_path"}}
	lineRange     = message{{Number: 1, Name: "start"}, {Number: 2, Name: "end"}}
	fileContent   = message{{Number: 1, Name: "file_path"}, {Number: 2, Name: "content"}, {Number: 3, Name: "line_range", Message: lineRange}}
	document      = message{{Number: 1, Name: "document_id"}, {Number: 2, Name: "content"}, {Number: 3, Name: "line_range", Message: lineRange}}
	searchReplace = message{{Number: 1, Name: "file_path"}, {Number: 2, Name: "search"}, {Number: 3, Name: "replace"}}
	diffHunk      = message{{Number: 1, Name: "file_path"}, {Number: 2, Name: "line_range", Message: lineRange}, {Number: 3, Name: "diff_content"}}
	diffSet       = message{{Number: 1, Name: "hunks", List: true, Message: diffHunk}}
	anyFile       = message{{Number: 5, Name: "binary_content", Message: pathMessage}, {Number: 6, Name: "text_content", Message: fileContent}}
	skill         = message{{Number: 1, Name: "path"}, {Number: 2, Name: "name"}, {Number: 3, Name: "description"}, {Number: 4, Name: "bundled_skill_id"}}

	executedCommand = message{{Number: 1, Name: "command"}, {Number: 2, Name: "output"}, {Number: 3, Name: "exit_code"}, {Number: 4, Name: "command_id"}}
	snapshot        = message{{Number: 1, Name: "output"}, {Number: 3, Name: "command_id"}}

	attachment = message{
		{Number: 1, Name: "plain_text"},
		{Number: 2, Name: "executed_shell_command", Message: executedCommand},
		{Number: 3, Name: "running_shell_command", Message: message{{Number: 1, Name: "command"}, {Number: 2, Name: "snapshot", Message: snapshot}}},
		{Number: 4, Name: "drive_object", Message: message{
			{Number: 1, Name: "uid"},
			{Number: 2, Name: "workflow", Message: message{{Number: 1, Name: "name"}, {Number: 2, Name: "description"}, {Number: 3, Name: "command"}}},
			{Number: 3, Name: "notebook", Message: message{{Number: 1, Name: "title"}, {Number: 2, Name: "content"}}},
			{Number: 4, Name: "generic_string_object", Message: message{{Number: 1, Name: "payload"}, {Number: 2, Name: "object_type"}}},
		}},
		{Number: 5, Name: "diff_hunk", Message: diffHunk},
		{Number: 6, Name: "diff_set", Message: diffSet},
		{Number: 7, Name: "document_content", Message: document},
		{Number: 8, Name: "file_path_reference", Message: pathMessage},
	}

	directory = message{{Number: 1, Name: "pwd"}}
	git       = message{{Number: 1, Name: "head"}, {Number: 2, Name: "branch"}}

	// What a prompt was asked with, and where a tool returned.
	promptContext = message{
		{Number: 1, Name: "directory", Message: directory}, {Number: 11, Name: "git", Message: git},
		{Number: 5, Name: "executed_shell_commands", List: true, Message: executedCommand},
		{Number: 6, Name: "selected_text", List: true, Message: message{{Number: 1, Name: "text"}}},
		{Number: 7, Name: "images", List: true, Message: message{{Number: 2, Name: "mime_type"}}},
		{Number: 9, Name: "files", List: true, Message: message{{Number: 1, Name: "content", Message: fileContent}}},
	}
	placeContext = message{{Number: 1, Name: "directory", Message: directory}, {Number: 11, Name: "git", Message: git}}

	userQuery = message{
		{Number: 1, Name: "query"},
		{Number: 2, Name: "context", Message: promptContext},
		{Number: 3, Name: "referenced_attachments", Map: true, Message: attachment},
		{Number: 4, Name: "mode", Message: message{{Number: 1, Name: "plan", Message: empty}, {Number: 2, Name: "orchestrate", Message: empty}}},
	}
	systemQuery = message{
		{Number: 1, Name: "auto_code_diff", Message: message{{Number: 1, Name: "query"}}},
		{Number: 2, Name: "context", Message: promptContext},
		{Number: 3, Name: "resume_conversation", Message: empty},
		{Number: 4, Name: "generate_passive_suggestions", Message: message{
			{Number: 1, Name: "attachments", List: true, Message: attachment},
			{Number: 4, Name: "shell_command_completed", Message: message{
				{Number: 1, Name: "executed_shell_command", Message: executedCommand}, {Number: 2, Name: "relevant_files", List: true, Message: anyFile},
			}},
		}},
		{Number: 5, Name: "create_new_project", Message: message{{Number: 1, Name: "query"}}},
		{Number: 6, Name: "clone_repository", Message: message{{Number: 1, Name: "url"}}},
		{Number: 7, Name: "summarize_conversation", Message: message{{Number: 1, Name: "prompt"}}},
		{Number: 8, Name: "fetch_review_comments", Message: message{{Number: 1, Name: "repo_path"}}},
		{Number: 9, Name: "handoff_rehydration", Message: message{{Number: 1, Name: "instructions"}}},
	}
	suggestionResult = message{
		{Number: 1, Name: "result", Message: message{
			{Number: 1, Name: "executed_shell_command", Message: executedCommand},
			{Number: 3, Name: "prompt", Message: message{{Number: 1, Name: "prompt"}}},
			{Number: 4, Name: "code_diff", Message: message{{Number: 1, Name: "diffs", List: true, Message: searchReplace}, {Number: 2, Name: "summary"}, {Number: 3, Name: "accepted"}}},
		}},
		{Number: 2, Name: "context", Message: promptContext},
	}

	reviewComment = message{
		{Number: 1, Name: "id"}, {Number: 2, Name: "comment"}, {Number: 3, Name: "commented_line", Message: diffHunk}, {Number: 4, Name: "commented_file", Message: pathMessage},
	}
	codeReview = message{{Number: 1, Name: "comments", Message: message{
		{Number: 1, Name: "pending_comments", List: true, Message: reviewComment}, {Number: 2, Name: "completed_comments", List: true, Message: reviewComment},
		{Number: 3, Name: "diff_set", Message: diffSet},
	}}}

	todo  = message{{Number: 1, Name: "id"}, {Number: 2, Name: "title"}, {Number: 3, Name: "description"}}
	todos = message{
		{Number: 1, Name: "create_todo_list", Message: message{{Number: 1, Name: "initial_todos", List: true, Message: todo}}},
		{Number: 2, Name: "update_pending_todos", Message: message{{Number: 1, Name: "updated_pending_todos", List: true, Message: todo}}},
		{Number: 3, Name: "mark_todos_completed", Message: message{{Number: 1, Name: "todo_ids", List: true}}},
	}

	page      = message{{Number: 1, Name: "url"}, {Number: 2, Name: "title"}, {Number: 3, Name: "success"}}
	webSearch = message{{Number: 1, Name: "status", Message: message{
		{Number: 1, Name: "searching", Message: message{{Number: 1, Name: "query"}}},
		{Number: 2, Name: "success", Message: message{{Number: 1, Name: "query"}, {Number: 2, Name: "pages", List: true, Message: page}}},
		{Number: 3, Name: "error", Message: empty},
	}}}
	webFetch = message{{Number: 1, Name: "status", Message: message{
		{Number: 1, Name: "fetching", Message: message{{Number: 1, Name: "urls", List: true}}},
		{Number: 2, Name: "success", Message: message{{Number: 1, Name: "pages", List: true, Message: page}}},
		{Number: 3, Name: "error", Message: empty},
	}}}

	pullRequest   = message{{Number: 1, Name: "url"}, {Number: 2, Name: "branch"}}
	artifactEvent = message{{Number: 1, Name: "created", Message: message{
		{Number: 1, Name: "pull_request", Message: pullRequest},
		{Number: 2, Name: "screenshot", Message: message{{Number: 3, Name: "description"}}},
		{Number: 3, Name: "file", Message: message{{Number: 2, Name: "filepath"}, {Number: 5, Name: "description"}}},
	}}}

	received = message{{Number: 1, Name: "messages", List: true, Message: message{
		{Number: 1, Name: "message_id"}, {Number: 2, Name: "sender_agent_id"}, {Number: 4, Name: "subject"}, {Number: 5, Name: "message_body"},
	}}}
	failure     = message{{Number: 1, Name: "stage"}, {Number: 2, Name: "reason"}, {Number: 3, Name: "error_message"}}
	agentEvents = message{{Number: 1, Name: "agent_events", List: true, Message: message{
		{Number: 1, Name: "event_id"},
		{Number: 3, Name: "lifecycle_event", Message: message{
			{Number: 1, Name: "sender_agent_id"}, {Number: 2, Name: "errored", Message: failure}, {Number: 6, Name: "cancelled", Message: empty},
			{Number: 7, Name: "blocked", Message: message{{Number: 1, Name: "blocked_action"}}}, {Number: 8, Name: "in_progress", Message: empty}, {Number: 9, Name: "succeeded", Message: empty},
			{Number: 10, Name: "failed", Message: message{{Number: 1, Name: "reason"}, {Number: 2, Name: "error_message"}}},
		}},
	}}}

	// The messages of a task: an envelope, and one of the kinds.
	entryMessage = message{
		{Number: 1, Name: "id"},
		{Number: 11, Name: "task_id"},
		{Number: 13, Name: "request_id"},
		{Number: 14, Name: "timestamp", Message: timeMessage},
		{Number: 2, Name: "user_query", Message: userQuery},
		{Number: 3, Name: "agent_output", Message: message{{Number: 1, Name: "text"}}},
		{Number: 4, Name: "tool_call", Message: toolCall},
		{Number: 5, Name: "tool_call_result", Message: toolResult},
		{Number: 6, Name: "server_event", Message: empty},
		{Number: 9, Name: "system_query", Message: systemQuery},
		{Number: 10, Name: "update_todos", Message: todos},
		{Number: 15, Name: "agent_reasoning", Message: message{{Number: 1, Name: "reasoning"}}},
		{Number: 16, Name: "summarization", Message: message{{Number: 1, Name: "conversation_summary", Message: message{{Number: 1, Name: "summary"}, {Number: 2, Name: "token_count"}}}}},
		{Number: 17, Name: "code_review", Message: codeReview},
		{Number: 18, Name: "update_review_comments", Message: empty},
		{Number: 19, Name: "web_search", Message: webSearch},
		{Number: 20, Name: "web_fetch", Message: webFetch},
		{Number: 21, Name: "debug_output", Message: message{{Number: 1, Name: "text"}}},
		{Number: 22, Name: "artifact_event", Message: artifactEvent},
		{Number: 23, Name: "invoke_skill", Message: message{
			{Number: 1, Name: "skill", Message: message{{Number: 1, Name: "descriptor", Message: skill}, {Number: 2, Name: "content", Message: fileContent}}},
			{Number: 2, Name: "user_query", Message: userQuery},
		}},
		{Number: 24, Name: "messages_received_from_agents", Message: received},
		{Number: 25, Name: "model_used", Message: message{{Number: 1, Name: "model_id"}, {Number: 2, Name: "model_display_name"}, {Number: 3, Name: "is_fallback"}}},
		{Number: 26, Name: "events_from_agents", Message: agentEvents},
		{Number: 27, Name: "passive_suggestion_result", Message: suggestionResult},
		{Number: 28, Name: "orchestration_config_snapshot", Message: empty},
		{Number: 7, Skip: true}, {Number: 8, Skip: true}, {Number: 12, Skip: true}, // the server's data, citations
		{Name: otherFields, Rest: true},
	}

	taskMessage = message{
		{Number: 1, Name: "id"},
		{Number: 2, Name: "description"},
		{Number: 3, Name: "dependencies", Message: message{{Number: 1, Name: "parent_task_id"}}},
		{Number: 5, Name: "messages", List: true, Message: entryMessage},
		{Number: 6, Name: "summary"},
	}
)
