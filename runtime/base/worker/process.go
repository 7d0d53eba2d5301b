package worker

import "time"

// Process is what a worker needs to know about its own process: its connection to the database, and
// therefore its place among the other processes (package node).
type Process interface {
	// AwaitClaim waits until jobs may be claimed. It returns false if stop is closed first. After an outage
	// it waits for some time after the database is back: other processes may have unstored results of jobs
	// whose leases have ended.
	AwaitClaim(stop <-chan struct{}) bool

	// AwaitRun waits until claimed jobs may start. It returns false if stop is closed first.
	AwaitRun(stop <-chan struct{}) bool

	// Holds reports whether this process must still own a job whose lease was taken or extended by a
	// statement sent at the given time. If the process seems to be gone, other processes may claim its jobs
	// before the leases end.
	Holds(since time.Time) bool

	// Watch registers a function that counts the jobs held by the worker whose leases were taken or
	// extended by statements sent before a given time.
	Watch(before func(time.Time) int)

	// Report reports the result of an operation on the database.
	Report(err error)

	// RecoverySignal returns a channel that is closed when operations succeed again.
	RecoverySignal() <-chan struct{}
}

// Standalone is a Process without other processes.
type Standalone struct{}

var _ Process = Standalone{}

// AwaitClaim does not wait.
func (Standalone) AwaitClaim(<-chan struct{}) bool { return true }

// AwaitRun does not wait.
func (Standalone) AwaitRun(<-chan struct{}) bool { return true }

// Holds is always true.
func (Standalone) Holds(time.Time) bool { return true }

// Watch does nothing.
func (Standalone) Watch(func(time.Time) int) {}

// Report does nothing.
func (Standalone) Report(error) {}

// RecoverySignal returns a nil channel, which is never closed.
func (Standalone) RecoverySignal() <-chan struct{} { return nil }
