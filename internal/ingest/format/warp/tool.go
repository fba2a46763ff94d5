package warp

// toolCall is a call of one of the tools that the published definitions describe.
var toolCall = message{
	{Number: 1, Name: "tool_call_id"},
	{Number: 2, Name: "run_shell_command", Message: message{{Number: 1, Name: "command"}}},
	{Number: 3, Name: "search_codebase", Message: message{{Number: 1, Name: "query"}, {Number: 2, Name: "path_filters", List: true}, {Number: 3, Name: "codebase_path"}}},
	{Number: 4, Name: "server", Message: message{{Number: 1, Name: "payload"}}},
	{Number: 5, Name: "read_files", Message: message{{Number: 1, Name: "files", List: true, Message: message{{Number: 1, Name: "name"}, {Number: 2, Name: "line_ranges", List: true, Message: lineRange}}}}},
	{Number: 6, Name: "apply_file_diffs", Message: message{
		{Number: 1, Name: "summary"}, {Number: 2, Name: "diffs", List: true, Message: searchReplace},
		{Number: 3, Name: "new_files", List: true, Message: message{{Number: 1, Name: "file_path"}, {Number: 2, Name: "content"}}},
		{Number: 4, Name: "deleted_files", List: true, Message: pathMessage},
		{Number: 5, Name: "v4a_updates", List: true, Message: message{
			{Number: 1, Name: "file_path"}, {Number: 2, Name: "move_to"},
			{Number: 3, Name: "hunks", List: true, Message: message{
				{Number: 1, Name: "change_context", List: true}, {Number: 2, Name: "pre_context"}, {Number: 3, Name: "old"}, {Number: 4, Name: "new"}, {Number: 5, Name: "post_context"},
			}},
		}},
	}},
	{Number: 7, Name: "suggest_plan", Message: message{
		{Number: 1, Name: "summary"}, {Number: 2, Name: "proposed_tasks", List: true, Message: message{{Number: 1, Name: "id"}, {Number: 2, Name: "description"}}},
	}},
	{Number: 8, Name: "suggest_create_plan", Message: empty},
	{Number: 9, Name: "grep", Message: message{{Number: 1, Name: "queries", List: true}, {Number: 2, Name: "path"}}},
	{Number: 10, Name: "file_glob", Message: message{{Number: 1, Name: "patterns", List: true}, {Number: 2, Name: "path"}}},
	{Number: 11, Name: "read_mcp_resource", Message: message{{Number: 1, Name: "uri"}, {Number: 2, Name: "server_id"}}},
	{Number: 12, Name: "call_mcp_tool", Message: message{{Number: 1, Name: "name"}, {Number: 2, Name: "args", Struct: true}, {Number: 3, Name: "server_id"}}},
	{Number: 13, Name: "write_to_long_running_shell_command", Message: message{{Number: 1, Name: "input"}, {Number: 3, Name: "command_id"}}},
	{Number: 14, Name: "suggest_new_conversation", Message: message{{Number: 1, Name: "message_id"}}},
	{Number: 15, Name: "file_glob_v2", Message: message{
		{Number: 1, Name: "patterns", List: true}, {Number: 2, Name: "search_dir"}, {Number: 3, Name: "max_matches"}, {Number: 4, Name: "max_depth"}, {Number: 5, Name: "min_depth"},
	}},
	{Number: 16, Name: "suggest_prompt", Message: message{
		{Number: 1, Name: "inline_query_banner", Message: message{{Number: 1, Name: "title"}, {Number: 2, Name: "description"}, {Number: 3, Name: "query"}}},
		{Number: 2, Name: "prompt_chip", Message: message{{Number: 1, Name: "prompt"}, {Number: 2, Name: "label"}}},
	}},
	{Number: 17, Name: "open_code_review", Message: empty},
	{Number: 18, Name: "init_project", Message: empty},
	{Number: 19, Name: "subagent", Message: message{
		{Number: 1, Name: "task_id"}, {Number: 2, Name: "payload"}, {Number: 3, Name: "cli", Message: message{{Number: 1, Name: "command_id"}}}, {Number: 4, Name: "research", Message: empty},
		{Number: 5, Name: "advice", Message: empty}, {Number: 6, Name: "computer_use", Message: empty}, {Number: 7, Name: "summarization", Message: empty},
		{Number: 8, Name: "conversation_search", Message: empty}, {Number: 9, Name: "warp_documentation_search", Message: empty},
	}},
	{Number: 20, Name: "read_documents", Message: message{{Number: 1, Name: "documents", List: true, Message: message{{Number: 1, Name: "document_id"}}}}},
	{Number: 21, Name: "edit_documents", Message: message{{Number: 1, Name: "diffs", List: true, Message: message{{Number: 1, Name: "document_id"}, {Number: 2, Name: "search"}, {Number: 3, Name: "replace"}}}}},
	{Number: 22, Name: "create_documents", Message: message{{Number: 1, Name: "new_documents", List: true, Message: message{{Number: 2, Name: "title"}, {Number: 1, Name: "content"}}}}},
	{Number: 23, Name: "read_shell_command_output", Message: message{{Number: 1, Name: "command_id"}}},
	{Number: 24, Name: "use_computer", Message: message{
		{Number: 3, Name: "action_summary"},
		{Number: 1, Name: "actions", List: true, Message: message{{Number: 6, Name: "type_text", Message: message{{Number: 1, Name: "text"}}}}},
	}},
	{Number: 25, Name: "insert_review_comments", Message: message{
		{Number: 1, Name: "repo_path"}, {Number: 3, Name: "base_branch"},
		{Number: 2, Name: "comments", List: true, Message: message{
			{Number: 1, Name: "comment_id"}, {Number: 2, Name: "author"}, {Number: 4, Name: "comment_body"}, {Number: 6, Name: "location", Message: message{{Number: 1, Name: "file_path"}}}, {Number: 7, Name: "html_url"},
		}},
	}},
	{Number: 26, Name: "read_skill", Message: message{{Number: 3, Name: "name"}, {Number: 1, Name: "skill_path"}, {Number: 2, Name: "bundled_skill_id"}}},
	{Number: 27, Name: "request_computer_use", Message: message{{Number: 1, Name: "task_summary"}}},
	{Number: 28, Name: "fetch_conversation", Message: message{{Number: 1, Name: "conversation_id"}}},
	{Number: 29, Name: "start_agent", Message: startAgent},
	{Number: 30, Name: "send_message_to_agent", Message: message{{Number: 1, Name: "addresses", List: true}, {Number: 2, Name: "subject"}, {Number: 3, Name: "message"}}},
	{Number: 31, Name: "transfer_shell_command_control_to_user", Message: message{{Number: 1, Name: "reason"}}},
	{Number: 32, Name: "ask_user_question", Message: message{{Number: 1, Name: "questions", List: true, Message: message{
		{Number: 1, Name: "question_id"}, {Number: 2, Name: "question"},
		{Number: 3, Name: "multiple_choice", Message: message{{Number: 1, Name: "options", List: true, Message: message{{Number: 1, Name: "label"}}}}},
	}}}},
	{Number: 33, Name: "start_agent_v2", Message: startAgent},
	{Number: 34, Name: "upload_file_artifact", Message: message{{Number: 1, Name: "file", Message: pathMessage}, {Number: 2, Name: "description"}}},
	{Number: 35, Name: "run_agents", Message: message{
		{Number: 1, Name: "summary"}, {Number: 2, Name: "base_prompt"}, {Number: 4, Name: "model_id"},
		{Number: 8, Name: "agent_run_configs", List: true, Message: message{{Number: 1, Name: "name"}, {Number: 2, Name: "prompt"}, {Number: 3, Name: "title"}}},
	}},
	{Name: otherFields, Rest: true},
}

var (
	startAgent = message{{Number: 1, Name: "name"}, {Number: 2, Name: "prompt"}}

	finishedCommand = message{{Number: 1, Name: "output"}, {Number: 2, Name: "exit_code"}, {Number: 3, Name: "command_id"}}
	commandError    = message{{Number: 1, Name: "command_not_found", Message: empty}}
	commandResult   = message{{Number: 1, Name: "long_running_command_snapshot", Message: snapshot}, {Number: 2, Name: "command_finished", Message: finishedCommand}, {Number: 3, Name: "error", Message: commandError}}

	resource = message{
		{Number: 1, Name: "uri"}, {Number: 2, Name: "text", Message: message{{Number: 1, Name: "content"}, {Number: 2, Name: "mime_type"}}}, {Number: 3, Name: "binary", Message: message{{Number: 2, Name: "mime_type"}}},
	}
	agentResult = message{{Number: 1, Name: "success", Message: message{{Number: 1, Name: "agent_id"}}}, {Number: 2, Name: "error", Message: message{{Number: 1, Name: "error"}}}}

	// toolResult has, like most tools, a success with what they return, or an error.
	toolResult = message{
		{Number: 1, Name: "tool_call_id"},
		{Number: 11, Name: "context", Message: placeContext},
		{Number: 2, Name: "run_shell_command", Message: message{
			{Number: 3, Name: "command"}, {Number: 4, Name: "long_running_command_snapshot", Message: snapshot}, {Number: 5, Name: "command_finished", Message: finishedCommand}, {Number: 6, Name: "permission_denied", Message: empty}, {Number: 1, Name: "output"}, {Number: 2, Name: "exit_code"},
		}},
		{Number: 3, Name: "search_codebase", Message: message{{Number: 1, Name: "success", Message: message{{Number: 1, Name: "files", List: true, Message: fileContent}}}, {Number: 2, Name: "error", Message: errorMessage}}},
		{Number: 4, Name: "server", Message: message{{Number: 1, Name: "serialized_result"}}},
		{Number: 5, Name: "read_files", Message: message{
			{Number: 1, Name: "text_files_success", Message: message{{Number: 1, Name: "files", List: true, Message: fileContent}}},
			{Number: 3, Name: "any_files_success", Message: message{{Number: 1, Name: "files", List: true, Message: anyFile}}},
			{Number: 2, Name: "error", Message: errorMessage},
		}},
		{Number: 6, Name: "apply_file_diffs", Message: message{{Number: 1, Name: "success", Message: message{
			{Number: 1, Name: "updated_files", List: true, Message: fileContent},
			{Number: 2, Name: "updated_files_v2", List: true, Message: message{{Number: 1, Name: "file", Message: fileContent}, {Number: 2, Name: "was_edited_by_user"}}},
			{Number: 3, Name: "deleted_files", List: true, Message: pathMessage},
		}}, {Number: 2, Name: "error", Message: errorMessage}}},
		{Number: 7, Name: "suggest_plan", Message: message{{Number: 1, Name: "accepted", Message: empty}, {Number: 2, Name: "user_edited_plan", Message: message{{Number: 1, Name: "plan_text"}}}}},
		{Number: 8, Name: "suggest_create_plan", Message: message{{Number: 1, Name: "accepted"}}},
		{Number: 9, Name: "grep", Message: message{{Number: 1, Name: "success", Message: message{{Number: 1, Name: "matched_files", List: true, Message: message{
			{Number: 1, Name: "file_path"}, {Number: 2, Name: "matched_lines", List: true, Message: message{{Number: 1, Name: "line_number"}}},
		}}}}, {Number: 2, Name: "error", Message: errorMessage}}},
		{Number: 10, Name: "file_glob", Message: message{{Number: 1, Name: "success", Message: message{{Number: 1, Name: "matched_files"}}}, {Number: 2, Name: "error", Message: errorMessage}}},
		{Number: 14, Name: "cancel", Message: empty},
		{Number: 15, Name: "read_mcp_resource", Message: message{{Number: 1, Name: "success", Message: message{{Number: 1, Name: "contents", List: true, Message: resource}}}, {Number: 2, Name: "error", Message: errorMessage}}},
		{Number: 16, Name: "call_mcp_tool", Message: message{{Number: 1, Name: "success", Message: message{{Number: 1, Name: "results", List: true, Message: message{
			{Number: 1, Name: "text", Message: message{{Number: 1, Name: "text"}}}, {Number: 2, Name: "image", Message: message{{Number: 2, Name: "mime_type"}}}, {Number: 3, Name: "resource", Message: resource},
		}}}}, {Number: 2, Name: "error", Message: errorMessage}}},
		{Number: 17, Name: "write_to_long_running_shell_command", Message: commandResult},
		{Number: 18, Name: "suggest_new_conversation", Message: message{{Number: 1, Name: "accepted", Message: message{{Number: 1, Name: "message_id"}}}, {Number: 2, Name: "rejected", Message: empty}}},
		{Number: 19, Name: "file_glob_v2", Message: message{{Number: 1, Name: "success", Message: message{{Number: 1, Name: "matched_files", List: true, Message: pathMessage}, {Number: 2, Name: "warnings"}}}, {Number: 2, Name: "error", Message: errorMessage}}},
		{Number: 20, Name: "suggest_prompt", Message: message{{Number: 1, Name: "accepted", Message: empty}, {Number: 2, Name: "rejected", Message: empty}}},
		{Number: 21, Name: "open_code_review", Message: empty},
		{Number: 22, Name: "init_project", Message: empty},
		{Number: 23, Name: "subagent", Message: message{{Number: 1, Name: "payload"}}},
		{Number: 24, Name: "read_documents", Message: message{{Number: 1, Name: "success", Message: message{{Number: 1, Name: "documents", List: true, Message: document}}}, {Number: 2, Name: "error", Message: errorMessage}}},
		{Number: 25, Name: "edit_documents", Message: message{{Number: 1, Name: "success", Message: message{{Number: 1, Name: "updated_documents", List: true, Message: document}}}, {Number: 2, Name: "error", Message: errorMessage}}},
		{Number: 26, Name: "create_documents", Message: message{{Number: 1, Name: "success", Message: message{{Number: 1, Name: "created_documents", List: true, Message: document}}}, {Number: 2, Name: "error", Message: errorMessage}}},
		{Number: 27, Name: "read_shell_command_output", Message: message{{Number: 1, Name: "command"}, {Number: 2, Name: "long_running_command_snapshot", Message: snapshot}, {Number: 3, Name: "command_finished", Message: finishedCommand}, {Number: 4, Name: "error", Message: commandError}}},
		{Number: 28, Name: "use_computer", Message: message{{Number: 1, Name: "success", Message: empty}, {Number: 2, Name: "error", Message: errorMessage}}},
		{Number: 29, Name: "insert_review_comments", Message: message{{Number: 1, Name: "repo_path"}, {Number: 2, Name: "success", Message: empty}, {Number: 3, Name: "error", Message: errorMessage}}},
		{Number: 30, Name: "read_skill", Message: message{{Number: 1, Name: "success", Message: message{{Number: 1, Name: "content", Message: fileContent}}}, {Number: 2, Name: "error", Message: errorMessage}}},
		{Number: 31, Name: "request_computer_use_result", Message: message{{Number: 1, Name: "approved", Message: empty}, {Number: 2, Name: "rejected", Message: empty}, {Number: 3, Name: "error", Message: errorMessage}}},
		{Number: 32, Name: "fetch_conversation", Message: message{{Number: 1, Name: "success", Message: message{{Number: 2, Name: "directory_path"}}}, {Number: 2, Name: "error", Message: errorMessage}}},
		{Number: 33, Name: "start_agent", Message: agentResult},
		{Number: 34, Name: "send_message_to_agent", Message: message{{Number: 1, Name: "success", Message: message{{Number: 1, Name: "message_id"}}}, {Number: 2, Name: "error", Message: errorMessage}}},
		{Number: 35, Name: "transfer_shell_command_control_to_user", Message: commandResult},
		{Number: 36, Name: "ask_user_question", Message: message{{Number: 1, Name: "success", Message: message{{Number: 1, Name: "answers", List: true, Message: message{
			{Number: 1, Name: "question_id"}, {Number: 2, Name: "multiple_choice", Message: message{{Number: 1, Name: "selected_options", List: true}, {Number: 2, Name: "other_text"}}},
			{Number: 3, Name: "skipped", Message: empty},
		}}}}, {Number: 2, Name: "error", Message: errorMessage}}},
		{Number: 37, Name: "start_agent_v2", Message: agentResult},
		{Number: 38, Name: "upload_file_artifact", Message: message{{Number: 1, Name: "success", Message: message{{Number: 1, Name: "artifact_uid"}}}, {Number: 2, Name: "error", Message: errorMessage}}},
		{Number: 39, Name: "run_agents_result", Message: message{
			{Number: 1, Name: "launched", Message: message{{Number: 1, Name: "resolved_model_id"}, {Number: 5, Name: "agents", List: true, Message: message{
				{Number: 1, Name: "name"}, {Number: 2, Name: "launched", Message: message{{Number: 1, Name: "agent_id"}}}, {Number: 3, Name: "failed", Message: message{{Number: 1, Name: "error"}}},
			}}}},
			{Number: 2, Name: "denied", Message: message{{Number: 1, Name: "reason"}}},
			{Number: 3, Name: "failure", Message: message{{Number: 1, Name: "error"}}},
		}},
		{Name: otherFields, Rest: true},
	}
)
