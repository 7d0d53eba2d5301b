package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/postrider/postrider/graph/inquiry"
	"github.com/postrider/postrider/graph/refusal"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/server"
)

// The response to a subscription is a stream of Server-Sent Events, with one connection each ("GraphQL over Server-Sent
// Events", distinct connections mode). Refusals are ordinary responses, sent before the stream starts. The protocol's
// `complete` means that the stream is finished, which never happens here: a stream that must end is cut, and the reader
// subscribes again.

func (h *handler) subscribe(ctx context.Context, w http.ResponseWriter, r *http.Request,
	operation *graphql.OperationContext) {
	refuse := func(why string) {
		ctx := graphql.WithOperationContext(ctx, operation)
		h.answer(w, r, http.StatusBadRequest, h.exec.DispatchError(ctx, gqlerror.List{gqlerror.Errorf("%s", why)}))
	}
	switch {
	case !strings.Contains(r.Header.Get("Accept"), mediaStream):
		refuse("A subscription requires Server-Sent Events: send Accept: text/event-stream")
		return
	case len(graphql.CollectFields(operation, operation.Operation.SelectionSet, []string{"Subscription"})) != 1:
		refuse("A subscription must have exactly one field")
		return
	}
	goesOn := false
	ctx, cancel := context.WithCancel(inquiry.WithBegun(ctx, &goesOn))
	defer cancel()
	responses, ctx := h.exec.DispatchOperation(ctx, operation)
	if !goesOn {
		answer := responses(ctx)
		status := http.StatusBadRequest
		switch {
		case refusal.HasCode(answer.Errors, fault.CodeUnavailable):
			status = http.StatusServiceUnavailable
		case refusal.HasCode(answer.Errors, refusal.CodeInternal):
			status = http.StatusInternalServerError
		}
		h.answer(w, r, status, answer)
		return
	}
	if err := h.follow(ctx, server.Start(w), r, responses); err != nil {
		telemetry.SetError(r.Context(), "", err)
	}
}

const mediaStream = "text/event-stream"

// isStreamed reports whether a response is sent as events: clients of "GraphQL over Server-Sent Events"
// request this for queries too.
func isStreamed(r *http.Request, status int) bool {
	accept := r.Header.Get("Accept")
	return status == http.StatusOK && strings.Contains(accept, mediaStream) && !strings.Contains(accept, "json")
}

// streamOnce sends the single response of a query as a stream and ends it. release frees the memory of the
// response.
func (h *handler) streamOnce(w http.ResponseWriter, r *http.Request, answer *graphql.Response, release func()) {
	data, err := encode(answer)
	if err == nil {
		err = server.WriteAll(w, server.StreamEvent{Name: "next", Data: data}, server.StreamEvent{Name: "complete"})
	}
	release()
	if err != nil {
		telemetry.SetError(r.Context(), "", err)
	}
}

// follow sends the results of the subscription until one side ends it.
func (h *handler) follow(ctx context.Context, w *server.Writer, r *http.Request,
	responses graphql.ResponseHandler) error {
	if err := w.Begin(""); err != nil {
		return err
	}
	type result struct {
		data []byte
		err  error
	}
	next := make(chan result)
	go func() {
		defer close(next)
		for answer := responses(ctx); answer != nil; answer = responses(ctx) {
			data, err := encode(answer) // before the next result, which reuses its memory
			select {
			case next <- result{data, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	recheck, beat := time.NewTicker(server.Recheck), time.NewTicker(server.Heartbeat)
	defer recheck.Stop()
	defer beat.Stop()
	for {
		select {
		case answer, more := <-next:
			if !more {
				return nil
			}
			if answer.err != nil {
				return answer.err
			}
			if err := w.Send(server.StreamEvent{Name: "next", Data: answer.data}); err != nil {
				return err
			}
		case <-recheck.C:
			if err := h.stillAllowed(r); err != nil {
				return err
			}
		case <-beat.C:
			if err := w.Beat(); err != nil {
				return err
			}
		}
	}
}

// stillAllowed ends the subscriptions of revoked keys and of users who left the account.
func (h *handler) stillAllowed(r *http.Request) error {
	caller, err := h.door.Authenticate(r)
	if err != nil {
		return err
	}
	caller.TestAllowed = true // as when the subscription started
	return caller.Authorize(rights.Read)
}

// encode writes a body as JSON on one line.
func encode(body any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // bodies are HTML; the content type of the response is not
	if err := encoder.Encode(body); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
