package eventlog

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/eventlog"
	"github.com/postrider/postrider/rest"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/sse"
	"github.com/postrider/postrider/runtime/telemetry"
)

// stream answers with events until one side ends it. What can be refused is refused
// before the answer begins.
func (e *edge) stream(ctx context.Context, c *rest.Call, in *eventStreamQuery) (*huma.StreamResponse, error) {
	stream, err := e.log.Open(ctx, c.AccountID, eventlog.Query{After: cmp.Or(in.LastEventID, in.After), Types: typeNames(in.Types)})
	if err != nil {
		return nil, c.Fail(ctx, err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer stream.Close()
		r, w := humago.Unwrap(hc)
		if err := follow(c, r, sse.Start(w), stream); err != nil {
			telemetry.SetError(r.Context(), "", err)
		}
	}}, nil
}

func follow(c *rest.Call, r *http.Request, w *sse.Writer, stream *eventlog.Stream) error {
	if err := w.Begin(stream.Position()); err != nil {
		return err
	}
	asked, said := time.Now(), time.Now()
	for {
		found, err := stream.Next(r.Context(), sse.Recheck)
		if err != nil {
			return err
		}
		if time.Since(asked) >= sse.Recheck {
			if err := c.StillAllowed(r, rights.Read); err != nil {
				return err
			}
			asked = time.Now()
		}
		switch {
		case len(found.Items) > 0:
			err = sendEvents(w, found.Items)
		case time.Since(said) >= sse.Heartbeat:
			err = w.Beat()
		default:
			continue
		}
		if err != nil {
			return err
		}
		said = time.Now()
	}
}

func sendEvents(w *sse.Writer, facts []event.Fact) error {
	events := make([]sse.Event, len(facts))
	for i, f := range facts {
		encoded, err := event.Encode(f.ID, f.Type, f.CreatedAt, f.Data)
		if err != nil {
			return err
		}
		events[i] = sse.Event{ID: f.ID, Data: encoded}
	}
	return w.Send(events...)
}
