package schema

// IsSecondHand returns an SQL condition that the version with this id only retells runs that have originals of their own,
// and several of them, as a history of prompts does.
func IsSecondHand(version string) string {
	return "(SELECT count(*) > 1 AND sum(NOT coalesce(h.stated ->> '$.Named', 0)) = 0 FROM run_claims h WHERE h.version = " + version + ")"
}
