// Package app assembles all modules and edges into one service, starts it in order and stops it in reverse.
// It makes no decision about mail.
//
// Start with run.go for the start sequence, app.go for the assembly, modules.go for the registry of modules
// and edges.go for the mux. Subjects that the assembly need not know have their own packages: listeners and
// outgoing for mail in and out, probes, checks of the doctor, and development mode.
package app
