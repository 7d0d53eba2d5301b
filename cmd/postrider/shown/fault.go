package shown

import (
	"time"

	"github.com/postrider/postrider/modules/sending/queue"
)

// Fault is the JSON of a fault in `postrider admin nodes`.
type Fault struct {
	Kind    queue.FaultKind `json:"kind"` // process or connection
	Node    *string         `json:"node"` // null if it is no longer known
	At      time.Time       `json:"at"`
	LastAt  time.Time       `json:"last_at"`
	InDoubt int             `json:"in_doubt"`
}

// FaultOf returns the JSON of a fault.
func FaultOf(f queue.Fault) Fault {
	out := Fault{Kind: f.Kind, At: f.At.UTC(), LastAt: f.LastAt.UTC(), InDoubt: f.InDoubt}
	if f.Node != "" {
		out.Node = &f.Node
	}
	return out
}
