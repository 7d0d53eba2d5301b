package rest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/eventlog"
	"github.com/postrider/postrider/runtime/telemetry"
)

const (
	heartbeat = 15 * time.Second
	// streamWrite is how long a reader may take nothing before it is cut.
	streamWrite = 10 * time.Second
)

// stream answers with events until one side ends it. What can be refused is refused
// before the answer begins.
func (e *eventLogEdge) stream(ctx context.Context, in *eventStreamQuery) (*huma.StreamResponse, error) {
	c := callOf(ctx)
	stream, err := e.log.Open(ctx, c.AccountID, eventlog.Query{After: cmp.Or(in.LastEventID, in.After), Types: typeNames(in.Types)})
	if err != nil {
		return nil, e.api.fail(ctx, c.requestID, err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer stream.Close()
		r, w := humago.Unwrap(hc)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
		if err := e.follow(r, w, stream); err != nil {
			telemetry.SetError(r.Context(), "", err)
		}
	}}, nil
}

func (e *eventLogEdge) follow(r *http.Request, w http.ResponseWriter, stream *eventlog.Stream) error {
	control := http.NewResponseController(w)
	write := func(b []byte) error {
		if err := control.SetWriteDeadline(time.Now().Add(streamWrite)); err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		return control.Flush()
	}
	// The position comes first, so that who loses the connection before the first
	// event goes on from here too.
	if err := write(fmt.Appendf(nil, "retry: 2000\nid: %s\n\n", stream.Position())); err != nil {
		return err
	}
	asked := time.Now()
	for {
		page, err := stream.Next(r.Context(), heartbeat)
		if err != nil {
			return err
		}
		if time.Since(asked) >= heartbeat {
			if err := e.stillAllowed(r); err != nil {
				return err
			}
			asked = time.Now()
		}
		if len(page.Events) == 0 {
			if err := write([]byte(": still here\n\n")); err != nil {
				return err
			}
			continue
		}
		var out bytes.Buffer
		for _, f := range page.Events {
			encoded, err := marshal(newLoggedEvent(f))
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, "id: %s\ndata: %s\n\n", f.ID, encoded)
		}
		if err := write(out.Bytes()); err != nil {
			return err
		}
	}
}

// stillAllowed ends the streams of keys that were revoked.
func (e *eventLogEdge) stillAllowed(r *http.Request) error {
	bearer, err := accounts.Bearer(r.Header)
	if err != nil {
		return err
	}
	caller, err := e.api.auth.Authenticate(r.Context(), bearer)
	if err != nil {
		return err
	}
	return caller.Authorize(accounts.Read)
}
