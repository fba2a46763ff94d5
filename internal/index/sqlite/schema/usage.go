package schema

const (
	// JoinUsageTexts joins the texts (x) of usage records (u).
	JoinUsageTexts = "CROSS JOIN usage_texts x ON x.id = u.texts "
	// UsageConversation is the native id of the conversation of a usage record (u). n is the name of its run.
	UsageConversation = "coalesce(u.native_conversation, n.native_id)"
)
