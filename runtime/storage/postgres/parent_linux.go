package postgres

import "syscall"

// endWithParent has the kernel ask the server for a fast shutdown when the
// thread that started it ends, which is when this process ends, even by kill -9.
func endWithParent(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGINT }
