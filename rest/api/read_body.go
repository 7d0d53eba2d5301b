package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/problem"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
)

const (
	bodyLimit = 1 << 20 // bytes, unless an operation sets its own limit

	retryBody = 5 * time.Second // after a refusal because the budget is exhausted
)

// readBody reads the body of an operation into c. c.close returns its share of the budget once the request is over.
func (a *API) readBody(w http.ResponseWriter, r *http.Request, want *Body, c *Call) error {
	if want == nil {
		return a.refuseBody(w, r, c)
	}
	if err := checkContentType(r.Header); err != nil {
		return err
	}
	limit := want.sizeLimit()
	content, err := a.budget.RequestBody(w, r, c.Owner(), limit)
	if err != nil {
		return BodyError(r.Context(), err, limit)
	}
	c.content = content
	if c.body, err = content.Bytes(); err != nil {
		return BodyError(r.Context(), err, limit)
	}
	return nil
}

// BodyError returns the error for a body that the budget did not accept.
func BodyError(ctx context.Context, err error, limit int64) error {
	switch {
	case errors.Is(err, intake.ErrTooLarge):
		return &fault.Error{Kind: fault.TooLarge, Code: fault.CodePayloadTooLarge,
			Message: fmt.Sprintf("The body is larger than the limit of %d bytes", limit)}
	case errors.Is(err, intake.ErrSlow):
		return tooSlow()
	case errors.Is(err, intake.ErrCut):
		p := problem.From(noRoom(err), "")
		p.Header.Set("Connection", "close")
		return p
	case errors.Is(err, intake.ErrFull):
		return noRoom(err)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fault.Invalidf("The body ended unexpectedly")
}

// RoomError translates an error of the budget: the service lacks memory or disk space.
func RoomError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, intake.ErrFull), errors.Is(err, intake.ErrCut):
		return noRoom(err)
	}
	return err
}

func noRoom(cause error) *fault.Error {
	refused := &fault.Error{Kind: fault.Unavailable, Code: fault.CodeUnavailable, RetryAfter: retryBody,
		Message: "Too many large requests in progress. Retry with the same Idempotency-Key"}
	return refused.WithCause(cause)
}

func tooSlow() *problem.Problem {
	p := problem.New(http.StatusRequestTimeout, problem.CodeRequestTimeout, "The body did not arrive in time")
	p.Header.Set("Connection", "close")
	return p
}

// runWithMemory processes a large body within the memory budget for such work. The response is written afterwards,
// so that slow clients do not hold the memory.
//
// The budget limits the wait for memory, which does not count against the time limit of the operation: otherwise
// an operation could start with too little time left, fail, and waste its work.
func (c *Call) runWithMemory(ctx context.Context, do func(context.Context) (*stored, error)) (*stored, error) {
	release, err := c.api.budget.WorkOnBody(ctx, c.Owner(), c.content)
	if err != nil {
		return nil, c.Fail(ctx, RoomError(ctx, err))
	}
	defer release()
	timed, cancel := context.WithTimeout(ctx, c.left)
	defer cancel()
	return do(timed)
}

func checkContentType(header http.Header) error {
	if encoding := header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return problem.New(http.StatusUnsupportedMediaType, fault.CodeUnsupportedMediaType,
			"Content-Encoding is not supported. Send the body uncompressed")
	}
	given := header.Get("Content-Type")
	mediaType, params, err := mime.ParseMediaType(given)
	charset := params["charset"]
	if err == nil && mediaType == jsonType && (charset == "" || strings.EqualFold(charset, "utf-8")) {
		return nil
	}
	message := "Content-Type must be application/json"
	if given != "" {
		message += ", not " + body.PrintableName(given)
	}
	return problem.New(http.StatusUnsupportedMediaType, fault.CodeUnsupportedMediaType, message)
}

// refuseBody accepts an empty body or {} for an operation without a body, because some clients always send one.
func (a *API) refuseBody(w http.ResponseWriter, r *http.Request, c *Call) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || r.ContentLength == 0 {
		return nil
	}
	const emptyLimit = 64 // bytes: {} and white space
	content, err := a.budget.RequestBody(w, r, c.Owner(), emptyLimit)
	if err == nil {
		defer content.Close()
		var given []byte
		if given, err = content.Bytes(); err == nil {
			if given = bytes.TrimSpace(given); len(given) == 0 || string(given) == "{}" {
				return nil
			}
			err = intake.ErrTooLarge
		}
	}
	if errors.Is(err, intake.ErrTooLarge) {
		return fault.Invalidf("This operation does not accept a body")
	}
	return BodyError(r.Context(), err, emptyLimit)
}
