// Package describe writes what a shell and a reader need to know of the command line: scripts
// that complete commands and flags, and the man page. Both are made of the declarations that
// kong reads, so that a command is described by being declared.
package describe
