// Package app joins all modules and edges into one service, starts it in
// order and stops it in reverse. It decides nothing about mail.
//
// The story of a start is in run.go, that of the joining in app.go, the registry
// of modules in modules.go, and the mux in edges.go. Subjects that the joining does not
// need to know stand below: listeners and outgoing for mail in and out, probes, checks of
// the doctor, and development mode.
package app
