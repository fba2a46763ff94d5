package formattest

// DatabaseHead returns the first page of an SQLite database in which no table can be seen: because the schema is on other pages, or because it is on this
// one, and names none.
func DatabaseHead(elsewhere bool) []byte {
	page := make([]byte, 4096)
	copy(page, "SQLite format 3\x00")
	if page[100] = 5; !elsewhere { // an interior page of the schema's tree
		page[100], page[104] = 13, 1 // a leaf with one row
	}
	return page
}
