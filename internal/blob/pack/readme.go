package pack

import _ "embed" // for Readme

// Readme is the README.txt of an archive: how to get everything back with a shell, gzip, tar and cat. The commands
// in it are run by a test.
//
//go:embed README.txt
var Readme string
