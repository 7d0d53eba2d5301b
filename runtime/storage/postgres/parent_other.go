//go:build !linux

package postgres

import "syscall"

// endWithParent does nothing on this system, which has no death signal. The next start finds the server in
// the lock file and stops it.
func endWithParent(*syscall.SysProcAttr) {}
