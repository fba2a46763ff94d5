package cline

import (
	"strings"
	"sync"
)

// knownNames has the says and asks of Cline, Roo Code and Kilo Code up to the versions of November 2026 that count as
// system events. Others count as well, with kind unknown.
var knownNames = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(`
		error error_retry info api_req_finished api_req_retried api_req_retry_delayed api_req_rate_limit_wait api_req_rate_limited api_req_deleted
		api_req_failed auto_approval_max_req_reached mistake_limit_reached invalid_model payment_required_prompt
		text image completion_result followup user_feedback_diff user_edit_todos task_progress plan_mode_respond
		act_mode_respond new_task subtask_result resume_task resume_completed_task report_bug interactive_app
		shell_integration_warning shell_integration_warning_with_suggestion command_permission_denied
		browser_action browser_action_launch browser_action_result browser_session_status inspect_site_result
		mcp_server_request_started mcp_notification load_mcp_documentation too_many_tools_warning
		diff_error clineignore_error rooignore_error checkpoint_created checkpoint_saved checkpoint_restore
		condense summarize_task condense_context condense_context_error sliding_window_truncation codebase_search_result
		mode_switch_compatibility_warning hook_status hook_output hook_output_stream conditional_rules_applied generate_explanation
		subagent use_subagents subagent_usage`) {
		all[name] = true
	}
	return all
})
