package node

import (
	"context"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
)

// None is a process that is no node: its claims name nobody, and it knows of no others.
type None struct{ worker.Alone }

// ID is 0.
func (None) ID() int32 { return 0 }

// Until is zero: claims hold good whenever they run.
func (None) Until() time.Time { return time.Time{} }

// OnGone does nothing.
func (None) OnGone(string, HandBack) {}

// Processes gives nobody.
func (None) Processes(context.Context) ([]Process, error) { return nil, nil }

// Self has no name.
func (None) Self() Process { return Process{} }
