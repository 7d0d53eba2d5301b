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
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/server"
	"github.com/postrider/postrider/runtime/work/event"
)

// stream sends events until one side closes the connection. All refusals happen before the response starts.
func (e *edge) stream(ctx context.Context, c *api.Call, in *eventStreamQuery) (*huma.StreamResponse, error) {
	stream, err := e.log.Open(ctx, c.AccountID, eventlog.EventQuery{After: cmp.Or(in.LastEventID, in.After),
		Types: typeNames(in.Types)})
	if err != nil {
		return nil, c.Fail(ctx, err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer stream.Close()
		r, w := humago.Unwrap(hc)
		if err := follow(c, r, server.Start(w), stream); err != nil {
			telemetry.SetError(r.Context(), "", err)
		}
	}}, nil
}

func follow(c *api.Call, r *http.Request, w *server.Writer, stream *eventlog.Stream) error {
	if err := w.Begin(stream.Position()); err != nil {
		return err
	}
	asked, said := time.Now(), time.Now()
	for {
		found, err := stream.Next(r.Context(), server.Recheck)
		if err != nil {
			return err
		}
		if time.Since(asked) >= server.Recheck {
			if err := c.StillAllowed(r, rights.Read); err != nil {
				return err
			}
			asked = time.Now()
		}
		switch {
		case len(found.Items) > 0:
			err = sendEvents(w, found.Items)
		case time.Since(said) >= server.Heartbeat:
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

func sendEvents(w *server.Writer, facts []event.Fact) error {
	events := make([]server.StreamEvent, len(facts))
	for i, f := range facts {
		encoded, err := event.Encode(f.AccountID, f.ID, f.Type, f.CreatedAt, f.Data)
		if err != nil {
			return err
		}
		events[i] = server.StreamEvent{ID: f.ID, Data: encoded}
	}
	return w.Send(events...)
}
