package intake

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A spool file is unlinked once it is open, so that it disappears with the process, however that ends.

const filePattern = "postrider-spool-*"

// prepareFolder creates the folder and removes files of a process that was killed between the two steps of
// create.
func prepareFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, filePattern))
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	for _, name := range left {
		if err := removeFile(name); err != nil && !errors.Is(err, fs.ErrPermission) { // belongs to another user
			return fmt.Errorf("spool: %w", err)
		}
	}
	return nil
}

// removeFile ignores files that another process removed first: processes may share the folder.
func removeFile(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// createFile opens a file without a name.
func (b *Budget) createFile() (*os.File, error) {
	f, err := os.CreateTemp(b.dir, filePattern)
	if err != nil {
		return nil, b.diskError(err)
	}
	if err := removeFile(f.Name()); err != nil {
		return nil, b.diskError(errors.Join(err, f.Close()))
	}
	return f, nil
}

// The spool leaves a twentieth of the disk to others, and of a large disk this many bytes: the database may
// be on the same disk.
const (
	keepFree     = 20
	keepFreeMost = 1 << 30
)

// diskHas checks whether the disk has room for n more bytes.
func (b *Budget) diskHas(n int64) error {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(b.dir, &disk); err != nil {
		return b.diskError(err)
	}
	block := uint64(disk.Bsize)
	if keep := min(disk.Blocks/keepFree, keepFreeMost/block); disk.Bavail < keep+uint64(n)/block {
		return b.diskError(fmt.Errorf("the disk of %s is full: of %d MB, %d MB are free, and %d MB are left to others",
			b.dir, disk.Blocks*block>>20, disk.Bavail*block>>20, keep*block>>20))
	}
	return nil
}

// diskError returns ErrFull, and logs the cause for the operator.
func (b *Budget) diskError(err error) error {
	b.disk.Add(1)
	if now, last := time.Now().Unix(), b.told.Load(); now-last >= 60 && b.told.CompareAndSwap(last, now) {
		b.log.Error("the spool cannot be written: large contents are rejected until it can", "folder", b.dir,
			"error", err)
	}
	return fmt.Errorf("%w: %w", ErrFull, err)
}

func mapFile(f *os.File, size int64) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

// restFile asks the kernel to evict a mapping. It may refuse.
func restFile(mapped []byte) {
	unix.Madvise(mapped, unix.MADV_DONTNEED) //nolint:errcheck // then the kernel evicts it when it needs the memory
}

func unmapFile(mapped []byte) {
	if err := syscall.Munmap(mapped); err != nil {
		panic("intake: " + err.Error()) // the address range is a whole mapping of ours
	}
}

// RecoverDiskFault calls do, which uses slices returned by Bytes. If the disk fails, accessing those bytes is a
// memory fault; RecoverDiskFault returns ErrFull for it instead of crashing. It protects the goroutine of the
// caller.
func RecoverDiskFault(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		problem := recover()
		if problem == nil {
			return
		}
		fault, ok := problem.(interface {
			error
			Addr() uintptr
		})
		if !ok {
			panic(problem)
		}
		err = fmt.Errorf("%w: %w", ErrFull, fault)
	}()
	return do()
}
