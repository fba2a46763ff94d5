package status

import (
	"time"

	"github.com/txarchive/txarchive/internal/prometheus"
)

// Metrics returns the metrics of a status.
func (s *Report) Metrics(now time.Time) *prometheus.Set {
	m := &prometheus.Set{}
	m.Time("txarchive_status_timestamp_seconds", "When these figures were collected.", now)
	for _, one := range s.Sources {
		if one.State != "removed" {
			one.metrics(m)
		}
	}
	m.Count("txarchive_packs", "Packs of the archive.", s.Storage.Packs)
	m.Count("txarchive_pack_bytes", "Bytes of all packs.", s.Storage.PackBytes)
	m.Count("txarchive_index_bytes", "Bytes of the index.", s.Storage.IndexBytes)
	m.Count("txarchive_unindexed_packs", "Packs that the index does not know yet.", s.Unindexed)
	if s.Free != nil {
		m.Count("txarchive_disk_free_bytes", "Bytes that are free on the disk of the archive.", *s.Free)
	}
	if s.Growth.Month != nil {
		m.Count("txarchive_pack_bytes_per_month", "Bytes by which the packs grow in 30 days.", *s.Growth.Month)
	}
	n := &s.Nightly
	m.Time("txarchive_nightly_last_timestamp_seconds", "When a nightly run last finished.", n.Finished.Time)
	m.Time("txarchive_nightly_next_timestamp_seconds", "Earliest time of the next nightly run.", n.Next.Time)
	if n.OK != nil {
		m.Flag("txarchive_nightly_last_ok", "Whether the last nightly run had no problems.", *n.OK)
		m.Count("txarchive_nightly_problems", "Problems of the last nightly run.", int64(len(n.Problems)))
		m.Count("txarchive_nightly_new_problems", "Problems of the last nightly run that the run before did not have.", int64(len(n.New)))
	}
	m.Flag("txarchive_nightly_killed", "Whether the last nightly run was killed.", n.Killed)
	m.Count("txarchive_verify_covered_bytes", "Bytes of packs that were recently written or verified.", s.Verify.Covered)
	m.Count("txarchive_damaged_packs", "Packs that were damaged when they were last read.", s.Verify.Damaged)
	if b := s.Backup; b != nil {
		m.Flag("txarchive_backup_last_ok", "Whether the last backup succeeded.", b.OK)
		if b.Last != nil {
			m.Time("txarchive_backup_last_timestamp_seconds", "When a backup last succeeded.", *b.Last)
		}
	}
	m.Count("txarchive_attention", "Findings that need attention.", int64(len(s.Attention)))
	return m
}

func (s *Source) metrics(m *prometheus.Set) {
	l := prometheus.Label{Name: "source", Value: s.Name}
	m.Flag("txarchive_source_present", "Whether the source exists.", s.State == "present", l)
	m.Time("txarchive_source_last_scanned_timestamp_seconds", "When the source was last scanned completely.", s.LastScanned.Time, l)
	m.Time("txarchive_source_last_stored_timestamp_seconds", "When something new was last stored from the source.", s.LastStored.Time, l)
	m.Count("txarchive_source_files", "Files of the source that are archived.", s.Files, l)
	m.Count("txarchive_source_bytes", "Bytes of their newest versions.", s.Bytes, l)
	m.Count("txarchive_source_problems", "Problems in files of the source.", s.Problems, l)
	if o := s.Outlook; o != nil {
		m.Count("txarchive_source_pending_files", "Files whose current content is not archived.", o.New+o.Changed, l)
		m.Count("txarchive_source_pending_bytes", "Bytes that are not archived.", o.Bytes, l)
		m.Count("txarchive_source_doomed_files", "Files that their program will delete before the next run.", o.Doomed, l)
		m.Count("txarchive_source_at_risk_files", "Files that their program will delete before the next run and whose current content is not archived.", o.AtRisk, l)
	}
}
