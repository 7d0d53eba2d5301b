package node

import (
	"context"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
)

// None is a process without a node: its claims carry no id, and it knows no other processes.
type None struct{ worker.Alone }

// ID returns 0.
func (None) ID() int32 { return 0 }

// Until returns the zero time: claims never expire.
func (None) Until() time.Time { return time.Time{} }

// OnGone does nothing.
func (None) OnGone(string, HandBack) {}

// Processes returns an empty list.
func (None) Processes(context.Context) ([]Process, error) { return nil, nil }

// Self returns a process without a name.
func (None) Self() Process { return Process{} }
