package graph

import (
	"context"

	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/eventlog"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/server"
	"github.com/postrider/postrider/runtime/work/event"
)

// EventLog reads stored events.
type EventLog interface {
	List(ctx context.Context, accountID string, q eventlog.EventQuery) (page.Page[event.Fact], error)
	Open(ctx context.Context, accountID string, q eventlog.EventQuery) (*eventlog.Stream, error)
}

var _ EventLog = (*eventlog.Service)(nil)

func toEvents(found page.Page[event.Fact]) *model.EventPage {
	out := &model.EventPage{Nodes: make([]*model.Event, 0, len(found.Items)), HasMore: found.HasMore,
		EndCursor: found.NextCursor}
	for _, f := range found.Items {
		out.Nodes = append(out.Nodes, toEvent(f))
	}
	return out
}

func toEvent(f event.Fact) *model.Event {
	return &model.Event{ID: f.ID, Type: string(f.Type), CreatedAt: f.CreatedAt, Data: f.Data}
}

func eventQuery(first int, after *string, types []string) eventlog.EventQuery {
	q := eventlog.EventQuery{Types: types, Limit: first}
	if after != nil {
		q.After = *after
	}
	return q
}

// followEvents returns the events of a stream until it ends or the reader disconnects. Then it closes the channel. The
// reader has the IDs to continue from.
func followEvents(ctx context.Context, stream *eventlog.Stream) <-chan *model.Event {
	out := make(chan *model.Event)
	go func() {
		defer close(out)
		defer stream.Close()
		for {
			found, err := stream.Next(ctx, server.Heartbeat)
			if err != nil {
				return
			}
			for _, f := range found.Items {
				select {
				case out <- toEvent(f):
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out
}
