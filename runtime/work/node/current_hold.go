package node

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/base/telemetry"
)

// CurrentHold returns the hold of the whole installation as of the latest beat, or nil. During a hold nothing is
// claimed.
func (n *Node) CurrentHold() *Hold {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.hold
}

// readHold reads the hold, and logs when one begins or ends.
func (n *Node) readHold(ctx context.Context) error {
	found, err := ReadHold(ctx, n.db.Hot)
	if err != nil {
		return fmt.Errorf("node: %w", err)
	}
	n.mu.Lock()
	before := n.hold
	n.hold = found
	n.mu.Unlock()
	switch {
	case found != nil && before == nil:
		n.log.WarnContext(ctx, "delivery is held until `postrider admin hold release`",
			"since", found.Since, telemetry.KeyReason, found.Reason)
	case found == nil && before != nil:
		n.log.InfoContext(ctx, "delivery is released")
	}
	return nil
}
