// Package runtime is the assembly: it knows every module and every edge, joins
// them, starts them in order and stops them in reverse. It decides nothing about
// mail.
//
// The story of a start is in run.go, that of the joining in app.go, the registry
// of modules in modules.go, and the mux in http.go.
package runtime
