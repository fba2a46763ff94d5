package indextest

import "testing"

func testRuns(t *testing.T, open func(*testing.T) Index)   {}
func testShow(t *testing.T, open func(*testing.T) Index)   {}
func testLinks(t *testing.T, open func(*testing.T) Index)  {}
func testTotals(t *testing.T, open func(*testing.T) Index) {}
func testLocate(t *testing.T, open func(*testing.T) Index) {}
func testOrder(t *testing.T, open func(*testing.T) Index)  {}
