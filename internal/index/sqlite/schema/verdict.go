package schema

import "github.com/txarchive/txarchive/internal/transcript"

// Numbers of verdicts, as in the table verdicts.
const (
	Counted = iota
	Duplicate
	CopiedHistory
	DerivedTotal
	OutsideReceipt
	EarlierVersion
	Uncounted
)

var VerdictNumber = map[transcript.Verdict]int{
	"": Counted, transcript.Counted: Counted, transcript.DuplicateOf: Duplicate, transcript.CopiedHistory: CopiedHistory,
	transcript.DerivedTotal: DerivedTotal, transcript.OutsideReceipt: OutsideReceipt,
	transcript.EarlierVersion: EarlierVersion, transcript.Uncounted: Uncounted,
}

// Verdicts are the names of verdicts by number, as in the table verdicts.
var Verdicts = []transcript.Verdict{Counted: transcript.Counted, Duplicate: transcript.DuplicateOf,
	CopiedHistory: transcript.CopiedHistory, DerivedTotal: transcript.DerivedTotal, OutsideReceipt: transcript.OutsideReceipt,
	EarlierVersion: transcript.EarlierVersion, Uncounted: transcript.Uncounted}
