package sourcefs

import (
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/txarchive/txarchive/internal/blob"
)

// openBelow opens a regular file below a directory with openat2, which neither follows a link nor leaves the directory. It returns nil
// on any failure: older kernels lack the call, and some sandboxes forbid it.
func openBelow(dir *os.File, p string) (File, fs.FileInfo) {
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

// descriptor is a File on a bare file descriptor. Creating an os.File probes twice whether reads may block, and takes four allocations
// and a finalizer, together a third of the cost of opening a small file. Reads of a regular file do not block.
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

// descriptorInfo is the result of fstat as an fs.FileInfo. Name is empty, and Mode has only the permission bits and whether the file is
// regular.
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

// OpenDir opens a directory for listing. It avoids os.Open, which registers the descriptor with the poller: four system calls for each of
// many small directories. If the direct call fails, os.Open is tried, and its error is returned.
func OpenDir(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
	if err != nil {
		return os.Open(dir)
	}
	return os.NewFile(uintptr(fd), dir), nil
}

// Stat returns the metadata of an entry of an open directory, without following a link. The kernel resolves the name relative to the
// directory and not from the root: resolving the same directory again for each file took half the time of a second scan.
func Stat(dir *os.File, e fs.DirEntry) (Info, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), e.Name(), &st, unix.AT_SYMLINK_NOFOLLOW); err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
		return Info{Size: st.Size, ModTime: blob.Nano(time.Unix(st.Mtim.Unix())), Inode: st.Ino}, nil
	}
	info, err := e.Info()
	if err != nil {
		return Info{}, err
	}
	return InfoOf(info), nil
}
