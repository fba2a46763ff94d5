package librechat

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Detect claims an export by its first members, which say how it was made.
func (libreChat) Detect(h format.Head) format.Claim {
	if !strings.EqualFold(path.Ext(h.Path), ".json") || !format.HasKeys(h.Bytes, "conversationId", "exportAt", "branches", "recursive") {
		return format.Claim{}
	}
	v, alone := jsontext.FirstElement(h.Bytes)
	if !alone || !v.Get("conversationId").IsString() || !v.Get("exportAt").IsString() || !v.Get("branches").Exists() || !v.Get("recursive").Exists() {
		return format.Claim{}
	}
	return format.Claim{Strength: format.Likely, Role: roleExport}
}
