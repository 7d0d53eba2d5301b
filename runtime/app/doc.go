// Package app assembles all modules and edges into one service, starts it in order and stops it in reverse.
// It makes no decisions about mail.
//
// Start with run.go for the start sequence, app.go for the assembly, modules.go for the registry of modules
// and edges.go for the mux. Subjects that the assembly does not need to know have their own packages: listeners and
// outgoing for incoming and outgoing mail, probes, checks for the doctor, and development mode.
package app
