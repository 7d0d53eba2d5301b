package postgres

import "syscall"

// endWithParent makes the kernel request a fast shutdown of the server when the thread that started it
// ends, which is when this process ends, even by kill -9.
func endWithParent(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGINT }
