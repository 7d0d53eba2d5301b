package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/postrider/postrider/runtime/fault"
)

const (
	bodyLimit      = 1 << 20   // octets, unless an operation says otherwise
	emailBodyLimit = 150 << 20 // ten attachments of 10 MB in base64, html and text of 5 MB each

	// DefaultBodyMemory is the budget for bodies over 1 MB. A body is decoded where
	// it lies.
	DefaultBodyMemory = 256 << 20
	smallBodyMemory   = 64 << 20

	smallWait    = 5 * time.Second
	largeWait    = 2 * time.Minute // it is rather late than refused: sending it again costs the caller more
	smallTimeout = 10 * time.Second
	largeTimeout = 2 * time.Minute // 100 MB at 7 Mbit/s
)

// requestBody is what an operation says of its body.
type requestBody struct {
	limit       int64 // octets; 0 is bodyLimit
	description string
	schema      string // component name
	examples    map[string]any
}

// bodyBudget bounds the memory of all bodies at one time. Small bodies do not
// queue behind large ones: a few uploads must not stop everybody's mail.
type bodyBudget struct {
	small, large *semaphore.Weighted
	patience     bodyPatience
}

// bodyPatience is how long a body may take.
type bodyPatience struct {
	smallBudget time.Duration // for its share of the memory, up to bodyLimit
	largeBudget time.Duration // and over it
	small       time.Duration // to arrive, up to bodyLimit
	large       time.Duration // to arrive, over it
}

func newBodyBudget(large int64) *bodyBudget {
	return &bodyBudget{small: semaphore.NewWeighted(smallBodyMemory), large: semaphore.NewWeighted(large),
		patience: bodyPatience{smallBudget: smallWait, largeBudget: largeWait, small: smallTimeout, large: largeTimeout}}
}

// read reads the body of an operation. release gives its memory back, and is
// called once the request is over.
func (b *bodyBudget) read(w http.ResponseWriter, r *http.Request, want *requestBody) (body []byte, release func(), err error) {
	if want == nil {
		return nil, func() {}, refuseBody(w, r)
	}
	if err := checkContentType(r.Header); err != nil {
		return nil, nil, err
	}
	limit := want.limit
	if limit == 0 {
		limit = bodyLimit
	}
	if r.ContentLength > limit {
		return nil, nil, tooLarge(limit)
	}
	if r.ContentLength < 0 {
		return b.readChunked(w, r, limit)
	}
	release, err = b.reserve(r.Context(), r.ContentLength)
	if err != nil {
		return nil, nil, err
	}
	deadline(w, b.timeoutFor(r.ContentLength))
	defer deadline(w, 0)
	body = make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, body); err != nil {
		release()
		return nil, nil, readError(err)
	}
	return body, release, nil
}

// readChunked reads a body that does not say how long it is: as a small one, and
// when it turns out larger with all of the limit reserved, so that two such bodies
// never wait for each other halfway.
func (b *bodyBudget) readChunked(w http.ResponseWriter, r *http.Request, limit int64) (body []byte, release func(), err error) {
	release, err = b.reserve(r.Context(), bodyLimit)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	deadline(w, b.patience.small)
	defer deadline(w, 0)
	var buffer bytes.Buffer
	n, err := io.CopyN(&buffer, r.Body, bodyLimit+1)
	switch {
	case errors.Is(err, io.EOF):
		return buffer.Bytes(), release, nil
	case err != nil:
		return nil, release, readError(err)
	case n > limit:
		return nil, release, tooLarge(limit)
	}
	releaseLarge, err := b.reserve(r.Context(), limit)
	if err != nil {
		return nil, release, err
	}
	releaseSmall := release
	release = func() { releaseSmall(); releaseLarge() }
	deadline(w, b.patience.large)
	// Grown once to its limit, for a buffer that doubles would hold three times as much.
	buffer.Grow(int(limit) + 1 - buffer.Len())
	_, err = io.CopyN(&buffer, r.Body, limit+1-n)
	switch {
	case errors.Is(err, io.EOF):
		return buffer.Bytes(), release, nil
	case err != nil:
		return nil, release, readError(err)
	default:
		err = tooLarge(limit)
		return nil, release, err
	}
}

func (b *bodyBudget) reserve(ctx context.Context, n int64) (func(), error) {
	pool, patience := b.small, b.patience.smallBudget
	if n > bodyLimit {
		pool, patience = b.large, b.patience.largeBudget
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := pool.Acquire(waiting, n); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &fault.Error{Kind: fault.Away, Code: fault.CodeUnavailable, RetryAfter: smallWait,
			Message: "Too many large requests at once; retry with the same Idempotency-Key"}
	}
	return func() { pool.Release(n) }, nil
}

func (b *bodyBudget) timeoutFor(length int64) time.Duration {
	if length > bodyLimit {
		return b.patience.large
	}
	return b.patience.small
}

// deadline bounds the reading of the body, 0 lifts it: net/http goes on reading
// behind the body to see the client leave, and would take a late deadline for that.
func deadline(w http.ResponseWriter, after time.Duration) {
	var at time.Time
	if after > 0 {
		at = time.Now().Add(after)
	}
	if err := http.NewResponseController(w).SetReadDeadline(at); err != nil && !errors.Is(err, http.ErrNotSupported) {
		// The connection is gone; the next read says so.
		return
	}
}

func tooLarge(limit int64) error {
	return &fault.Error{Kind: fault.TooLarge, Code: fault.CodePayloadTooLarge,
		Message: fmt.Sprintf("The body is larger than the %d octets that this operation takes", limit)}
}

func readError(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		p := newProblem(http.StatusRequestTimeout, codeRequestTimeout, "The body did not arrive in time")
		p.headers.Set("Connection", "close")
		return p
	}
	return fault.Invalidf("The body ended early")
}

func checkContentType(header http.Header) error {
	if encoding := header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return newProblem(http.StatusUnsupportedMediaType, fault.CodeUnsupportedMediaType, "Content-Encoding is not supported; send the body as it is")
	}
	given := header.Get("Content-Type")
	mediaType, params, err := mime.ParseMediaType(given)
	charset := params["charset"]
	if err == nil && mediaType == jsonType && (charset == "" || strings.EqualFold(charset, "utf-8")) {
		return nil
	}
	message := "Content-Type must be application/json"
	if given != "" {
		message += ", not " + shown(given)
	}
	return newProblem(http.StatusUnsupportedMediaType, fault.CodeUnsupportedMediaType, message)
}

// refuseBody lets an operation without a body take an empty one, or {}: some
// clients cannot post nothing.
func refuseBody(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || r.ContentLength == 0 {
		return nil
	}
	deadline(w, smallTimeout)
	defer deadline(w, 0)
	body, err := io.ReadAll(io.LimitReader(r.Body, 64))
	if err != nil {
		return readError(err)
	}
	if body = bytes.TrimSpace(body); len(body) == 0 || string(body) == "{}" {
		return nil
	}
	return fault.Invalidf("This operation takes no body")
}
