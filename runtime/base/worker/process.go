package worker

import "time"

// Process is what a worker has to know of the process that it runs in: how it stands
// with the database, and so with the other processes (package node).
type Process interface {
	// AwaitClaim waits until jobs may be claimed; false when stop comes first. After an
	// outage that is a while after the database is back: other processes may have
	// results that are not stored yet, of jobs whose leases have ended meanwhile.
	AwaitClaim(stop <-chan struct{}) bool

	// AwaitRun waits until claimed jobs may be begun; false when stop comes first.
	AwaitRun(stop <-chan struct{}) bool

	// Holds tells whether a job whose lease was taken or prolonged by a statement that
	// was sent at the given time can still be nobody else's. It may be claimed by others
	// before its lease ends when this process seems to be gone.
	Holds(since time.Time) bool

	// Watch has the process know how many jobs the worker holds whose leases were taken or
	// prolonged by statements that were sent before a time.
	Watch(before func(time.Time) int)

	// Report tells of the end of an operation on the database.
	Report(err error)

	// Back gives a channel that is closed when operations work again.
	Back() <-chan struct{}
}

// Alone is a process that knows of no others.
type Alone struct{}

var _ Process = Alone{}

// AwaitClaim does not wait.
func (Alone) AwaitClaim(<-chan struct{}) bool { return true }

// AwaitRun does not wait.
func (Alone) AwaitRun(<-chan struct{}) bool { return true }

// Holds is always true.
func (Alone) Holds(time.Time) bool { return true }

// Watch does nothing.
func (Alone) Watch(func(time.Time) int) {}

// Report does nothing.
func (Alone) Report(error) {}

// Back gives a channel that is never closed.
func (Alone) Back() <-chan struct{} { return nil }
