package ingest

import (
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/txarchive/txarchive/internal/blob"
)

// openBelow opens a regular file below a directory by one call, which follows no link and never leaves the directory. nil when that
// fails, for whatever reason: older systems do not have it, and some sandboxes forbid it.
func openBelow(dir *os.File, p string) (original, fs.FileInfo) {
	fd, err := unix.Openat2(int(dir.Fd()), p, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_CLOEXEC | openFlags, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return nil, nil
	}
	f := descriptor(fd)
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, nil
	}
	return f, info
}

// descriptor is an open file that no read waits for. To an os.File each read might wait: it asks twice whether one would, when it is
// made, and needs four allocations and a finalizer, a third of what opening a small file costs.
type descriptor int

func (f descriptor) ReadAt(b []byte, at int64) (read int, err error) {
	for read < len(b) {
		n, err := unix.Pread(int(f), b[read:], at+int64(read))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return read, os.NewSyscallError("pread", err)
		case n == 0:
			return read, io.EOF
		default:
			read += n
		}
	}
	return read, nil
}

func (f descriptor) Close() error { return os.NewSyscallError("close", unix.Close(int(f))) }

func (f descriptor) Stat() (fs.FileInfo, error) {
	info := &descriptorInfo{}
	for {
		if err := syscall.Fstat(int(f), &info.stat); err != syscall.EINTR {
			return info, os.NewSyscallError("fstat", err)
		}
	}
}

// descriptorInfo is what the system says of a file: without a name, and of its mode the permissions and whether it is a regular file.
type descriptorInfo struct{ stat syscall.Stat_t }

func (i *descriptorInfo) Name() string       { return "" }
func (i *descriptorInfo) Size() int64        { return i.stat.Size }
func (i *descriptorInfo) ModTime() time.Time { return time.Unix(i.stat.Mtim.Unix()) }
func (i *descriptorInfo) IsDir() bool        { return false }
func (i *descriptorInfo) Sys() any           { return &i.stat }

func (i *descriptorInfo) Mode() fs.FileMode {
	mode := fs.FileMode(i.stat.Mode) & fs.ModePerm
	if i.stat.Mode&syscall.S_IFMT != syscall.S_IFREG {
		mode |= fs.ModeIrregular
	}
	return mode
}

// openDir opens a directory to be listed. os.Open would have it watched for more to come, four calls for each of many small
// directories; it is asked whenever something is in the way, and says what.
func openDir(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
	if err != nil {
		return os.Open(dir)
	}
	return os.NewFile(uintptr(fd), dir), nil
}

// lookAt returns what stands in a directory under a name. The system goes from the directory, and not from the root: half of
// what a second scan took was to find the same directory again for each file in it.
func lookAt(dir *os.File, e fs.DirEntry) (metadata, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), e.Name(), &st, unix.AT_SYMLINK_NOFOLLOW); err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
		return metadata{size: st.Size, mtime: blob.Nano(time.Unix(st.Mtim.Unix())), inode: st.Ino}, nil
	}
	info, err := e.Info()
	if err != nil {
		return metadata{}, err
	}
	return metadataOf(info), nil
}
