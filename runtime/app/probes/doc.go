// Package probes is the part of the assembly that says how a process does: GET /healthz and
// GET /readyz, and the lines and metrics of what belongs to no single module there: the hold
// of the whole installation and how late the queue is.
package probes
