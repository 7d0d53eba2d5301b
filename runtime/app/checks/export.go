package checks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/eventexport"
	"github.com/postrider/postrider/runtime/ops/doctor"
)

// checkExport checks that the stream of events exists, and how far the export is behind.
func checkExport(p Params) doctor.Check {
	return func(ctx context.Context) []doctor.Finding {
		all := []doctor.Finding{exportStream(ctx, p)}
		is, err := eventexport.ReadState(ctx, p.DB)
		f := doctor.Finding{Check: "export.behind",
			Expected: fmt.Sprintf("no event waits longer than %s", eventexport.BehindLimit),
			Found:    "no event is waiting"}
		switch {
		case errors.Is(err, eventexport.ErrNothing):
			return all // before the first start with this setting
		case err != nil:
			f.Level, f.Found, f.Do = doctor.Skipped, err.Error(), "Check the database first."
		case is.Behind > eventexport.BehindLimit:
			f.Level, f.Found = doctor.Error, fmt.Sprintf("the oldest event has waited for %s",
				is.Behind.Round(time.Second))
			f.Do = "Run postrider admin export status to see the latest error. No events are lost, and mail is not affected."
			if is.Failures > 0 {
				f.Found += ": " + is.Error
			}
		case is.Behind > 0:
			f.Found = fmt.Sprintf("the oldest event has waited for %s", is.Behind.Round(time.Second))
		}
		return append(all, f)
	}
}

func exportStream(ctx context.Context, p Params) doctor.Finding {
	f := doctor.Finding{Check: "export.stream", Expected: "the stream of POSTRIDER_EVENTS_TO exists and is replicated"}
	replicas, err := eventexport.Copies(ctx, p.Config)
	switch {
	case err != nil:
		f.Level, f.Found, f.Do = doctor.Error, err.Error(),
			"Check the NATS servers and the POSTRIDER_EVENTS_ settings. No events are lost, and mail is not affected."
	case replicas == 1:
		f.Level, f.Found = doctor.Warning, "the stream is on one server"
		f.Do = "A power failure of that server can lose the latest two minutes. Use three servers and POSTRIDER_EVENTS_REPLICAS=3, or set sync_interval: always on the server (the doctor cannot detect that setting)."
	case replicas == 0:
		f.Found = "the stream is created with the first event"
	default:
		f.Found = fmt.Sprintf("the stream is on %d servers", replicas)
	}
	return f
}
