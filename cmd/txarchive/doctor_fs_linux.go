package main

import "syscall"

// networks are the kinds of file systems that other machines serve, by the number that Linux gives them.
var networks = map[uint32]string{
	0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB", 0x5346414f: "AFS", 0x00c36400: "Ceph", 0x0bd00bd0: "Lustre",
	0x47504653: "GPFS", 0x73757245: "Coda", 0x01021997: "9p", 0x65735546: "FUSE", 0x7461636f: "OCFS2", 0x01161970: "GFS2",
}

// fileSystem names the kind of file system that a directory lies on, as far as it matters, and says whether other
// machines may serve it.
func fileSystem(dir string) (kind string, network bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return "", false
	}
	kind, network = networks[uint32(s.Type)]
	if !network {
		kind = "local"
	}
	return kind, network
}

// freeBytes is how much room the file system of a directory has for this user, -1 when that is not known.
func freeBytes(dir string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize)
}
