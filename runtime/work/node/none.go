package node

import (
	"context"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
)

// None is a process without a node: its claims carry no id, and it knows no other processes.
type None struct{ worker.Standalone }

// ID returns 0.
func (None) ID() int32 { return 0 }

// ClaimsUntil returns the zero time: claims never expire.
func (None) ClaimsUntil() time.Time { return time.Time{} }

// OnDead does nothing.
func (None) OnDead(string, ReleaseFunc) {}

// Processes returns an empty list.
func (None) Processes(context.Context) ([]Process, error) { return nil, nil }

// Self returns a process without a name.
func (None) Self() Process { return Process{} }
