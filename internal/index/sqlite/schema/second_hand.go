package schema

// IsSecondHand is an SQL condition: the version with this id only tells of runs that other originals are about, and of several. A history of
// prompts is like that.
func IsSecondHand(version string) string {
	return "(SELECT count(*) > 1 AND sum(NOT coalesce(h.stated ->> '$.Named', 0)) = 0 FROM run_claims h WHERE h.version = " + version + ")"
}
