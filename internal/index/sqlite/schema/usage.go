package schema

const (
	// JoinUsageTexts joins the texts (x) of usage records (u).
	JoinUsageTexts = "CROSS JOIN usage_texts x ON x.id = u.texts "
	// UsageConversation is the native id of the conversation of a usage record (u). n is the name of its run.
	UsageConversation = "coalesce(u.native_conversation, n.native_id)"

	// UsageOf is the usage_id of the record that counts instead of a duplicate (u), which o is where that has another id.
	UsageOf = "CASE WHEN u.of IS NOT NULL THEN o.usage_id WHEN u.verdict = 1 AND u.stated_verdict = 0 THEN u.usage_id END"
)
