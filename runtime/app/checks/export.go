package checks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/eventexport"
	"github.com/postrider/postrider/runtime/ops/doctor"
)

// checkExport looks whether the stream of events is there, and how far behind it is.
func checkExport(p Params) doctor.Check {
	return func(ctx context.Context) []doctor.Finding {
		all := []doctor.Finding{exportStream(ctx, p)}
		is, err := eventexport.Look(ctx, p.DB)
		f := doctor.Finding{Check: "export.behind", Expected: fmt.Sprintf("no event waits for longer than %s", eventexport.BehindLimit), Found: "none waits"}
		switch {
		case errors.Is(err, eventexport.ErrNothing):
			return all // before the first start with the setting
		case err != nil:
			f.Level, f.Found, f.Do = doctor.Skipped, err.Error(), "Look at the database first."
		case is.Behind > eventexport.BehindLimit:
			f.Level, f.Found = doctor.Error, fmt.Sprintf("the oldest waits for %s", is.Behind.Round(time.Second))
			f.Do = "postrider export status has the latest error. Nothing is lost meanwhile, and mail is not affected."
			if is.Failures > 0 {
				f.Found += ": " + is.Error
			}
		case is.Behind > 0:
			f.Found = fmt.Sprintf("the oldest waits for %s", is.Behind.Round(time.Second))
		}
		return append(all, f)
	}
}

func exportStream(ctx context.Context, p Params) doctor.Finding {
	f := doctor.Finding{Check: "export.stream", Expected: "the stream of POSTRIDER_EVENTS_TO is there and has copies"}
	replicas, err := eventexport.Copies(ctx, p.Config)
	switch {
	case err != nil:
		f.Level, f.Found, f.Do = doctor.Error, err.Error(), "Look at the NATS servers and at the settings that begin with POSTRIDER_EVENTS_. Nothing is lost meanwhile, and mail is not affected."
	case replicas == 1:
		f.Level, f.Found = doctor.Warning, "one server has it"
		f.Do = "A power failure there may lose the latest two minutes. Use three servers and POSTRIDER_EVENTS_REPLICAS=3, or set sync_interval: always at the server, of which this cannot know."
	case replicas == 0:
		f.Found = "it is made with the first event"
	default:
		f.Found = fmt.Sprintf("%d servers have it", replicas)
	}
	return f
}
