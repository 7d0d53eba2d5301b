// Package probes is the part of the assembly that reports the health of a process: GET /healthz and GET
// /readyz, and the lines and metrics that belong to no single module: the hold of the whole installation and
// the delay of the queue.
package probes
