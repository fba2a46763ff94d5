package disk

import "syscall"

// networks are network file systems by their magic numbers in statfs(2).
var networks = map[uint32]string{
	0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB", 0x5346414f: "AFS", 0x00c36400: "Ceph", 0x0bd00bd0: "Lustre",
	0x47504653: "GPFS", 0x73757245: "Coda", 0x01021997: "9p", 0x65735546: "FUSE", 0x7461636f: "OCFS2", 0x01161970: "GFS2",
}

// FileSystem returns the kind of file system that a directory is on: a network file system by name, "local" for any other, "" if that
// cannot be told. network reports whether other machines may serve it.
func FileSystem(dir string) (kind string, network bool) {
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

// FreeBytes returns how many bytes this user can still write to the file system of a directory, -1 if that is not known.
func FreeBytes(dir string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize)
}
